//! The flags of a run's settings, made from the table in [`tare_plan::settings`].

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use tare_plan::settings::{Options, SettingInfo, all_settings};
use tare_plan::suite::Suite;
use tare_report::text::wrap;

/// The suite that a bare `tare run` uses.
const QUICK_SUITE: &str = include_str!("../../../../suites/quick.toml");

const NOTE_WIDTH: usize = 100;

/// The settings that are flags of `tare run`: all of them.
#[derive(Debug, Clone, Default)]
pub struct RunSettings(pub Options);

/// The settings that are flags of `tare profile` too.
#[derive(Debug, Clone, Default)]
pub struct ProfileSettings(pub Options);

/// The settings that are flags of `tare check` too.
#[derive(Debug, Clone, Default)]
pub struct CheckSettings(pub Options);

/// What `tare check` decides itself: what is compared with what, and that it is compared.
const NOT_IN_CHECK: [&str; 5] = ["baseline", "aa", "versions", "duration", "engine"];

fn settings_with_flag(has_flag: fn(&SettingInfo) -> bool) -> Vec<SettingInfo> {
    all_settings().into_iter().filter(has_flag).collect()
}

macro_rules! flags_of_settings {
    ($args:ident, $has_flag:expr) => {
        impl Args for $args {
            fn augment_args(command: Command) -> Command {
                let settings = settings_with_flag($has_flag);
                let known: Vec<&str> = settings.iter().map(|setting| setting.key).collect();
                command.args(settings.into_iter().map(|setting| flag(setting, &known)))
            }
            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }

        impl FromArgMatches for $args {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                read_flags(settings_with_flag($has_flag), matches).map(Self)
            }
            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}
flags_of_settings!(RunSettings, |_| true);
flags_of_settings!(ProfileSettings, |setting| setting.flag.in_profile);
flags_of_settings!(CheckSettings, |setting| !NOT_IN_CHECK.contains(&setting.key));

/// One setting as a flag. `known` are the keys of all settings that the sub-command has as flags.
fn flag(setting: SettingInfo, known: &[&str]) -> Arg {
    let conflicts = setting.flag.conflicts.iter().copied().filter(|key| known.contains(key));
    let arg = Arg::new(setting.key)
        .long(setting.long())
        .short(setting.flag.short)
        .help(help_of(&setting))
        .help_heading(setting.section.heading())
        .conflicts_with_all(conflicts)
        .allow_hyphen_values(setting.flag.allow_hyphens);
    let arg = setting.flag.requires.iter().fold(arg, |arg, required| arg.requires(*required));
    if setting.flag.switch.is_some() {
        return arg.action(ArgAction::SetTrue);
    }
    let action = if setting.flag.delimiter.is_some() { ArgAction::Append } else { ArgAction::Set };
    let arg = arg.value_name(setting.flag.value_name).action(action).value_delimiter(setting.flag.delimiter);
    arg.value_parser(move |text: &str| setting.check_text(text).map(|()| text.to_owned()))
}

/// The help sentence and the default; a switch says in its sentence what it changes.
fn help_of(setting: &SettingInfo) -> String {
    let help = setting.flag.switch.map_or(setting.help.as_str(), |switch| switch.help).trim_end_matches('.');
    match setting.default.as_ref().filter(|_| setting.flag.switch.is_none()) {
        Some(default) => format!("{help} [default: {default}]"),
        None => help.to_owned(),
    }
}

fn read_flags(settings: Vec<SettingInfo>, matches: &ArgMatches) -> Result<Options, clap::Error> {
    let mut options = Options::default();
    for setting in settings {
        // Blanks beside one another separate nothing.
        let is_text = |text: &&String| setting.flag.delimiter != Some(' ') || !text.is_empty();
        let texts: Option<Vec<String>> = match setting.flag.switch {
            Some(switch) => matches.get_flag(setting.key).then(|| vec![switch.value.to_string()]),
            None => matches.get_many::<String>(setting.key).map(|texts| texts.filter(is_text).cloned().collect()),
        };
        if let Some(texts) = texts {
            let wrong = |message| clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n"));
            setting.parse_into(&mut options, &texts).map_err(wrong)?;
        }
    }
    Ok(options)
}

/// The note above the help of `tare run`: which defaults a bare `tare run` changes.
pub fn quick_suite_note() -> String {
    let given =
        Suite::parse("suites/quick.toml", QUICK_SUITE).map(|suite| suite.run.given_values()).unwrap_or_default();
    // A flag stays on one line with its value.
    let settings: Vec<String> = given.iter().map(|(key, value)| as_flag(key, value).replace(' ', "\u{a0}")).collect();
    let settings = wrap(&format!("  {}", settings.join(" ")), NOTE_WIDTH, 2).replace('\u{a0}', " ");
    format!(
        "Defaults: a flag wins over the suite file, and the suite file over the default that is shown here. \
         Without SUITE, tare.toml, -s, -m, --aa and --external, `tare run` uses suites/quick.toml:\n{settings}\n\n\
         `tare run --dry-run` prints every value with its source. Reference: docs/SETTINGS.md"
    )
}

/// A setting as it would be typed: `--budget 5m`, `--control`; key and value where no flag says it.
fn as_flag(key: &str, value: &str) -> String {
    let setting = all_settings().into_iter().find(|setting| setting.key == key);
    match setting.map(|setting| (setting.long(), setting.flag.switch)) {
        Some((long, None)) => format!("--{long} {value}"),
        Some((long, Some(switch))) if switch.value.to_string() == value => format!("--{long}"),
        _ => format!("{key} = {value}"),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::{Cli, Command as SubCommand};

    /// A text in one line: the help breaks lines where the terminal is too narrow.
    fn one_line(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn help_of_command(name: &str) -> String {
        let mut cli = Cli::command();
        one_line(&cli.find_subcommand_mut(name).unwrap().render_help().to_string())
    }

    fn options_of(args: &[&str]) -> Options {
        match Cli::try_parse_from([&["tare", "run"], args].concat()).unwrap().command {
            SubCommand::Run(args) => args.settings.0,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_note_tells_every_setting_of_the_quick_suite() {
        let note = quick_suite_note();
        // The lines of the file itself, however the parser of suites reads them.
        let table = QUICK_SUITE.split("[run]").nth(1).unwrap().split("\n[").next().unwrap();
        let lines: Vec<(&str, &str)> = table.lines().filter_map(|line| line.split_once(" = ")).collect();
        assert!(!lines.is_empty(), "the suite has settings");
        for (key, value) in lines {
            assert!(note.contains(&as_flag(key, value.trim_matches('"'))), "{key} = {value}: {note}");
        }
        assert!(help_of_command("run").starts_with(&one_line(&note)));
    }

    #[test]
    fn the_help_states_every_default_of_the_table() {
        let (run, profile) = (help_of_command("run"), help_of_command("profile"));
        for setting in all_settings() {
            let help = one_line(&help_of(&setting));
            assert!(run.contains(&help), "{}: {run}", setting.key);
            assert_eq!(profile.contains(&help), setting.flag.in_profile, "{}", setting.key);
        }
    }

    #[test]
    fn flags_become_options() {
        let options = options_of(&[
            "-s",
            "a,b",
            "-m",
            "Get",
            "-u",
            "3",
            "--no-spin",
            "--warmup-pinned",
            "--hiccups",
            "--control",
            "--jvm-options",
            "-Xmx1g -Xms1g",
            "--forks",
            "5",
        ]);
        assert_eq!(options.servers, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(options.jvm_options, Some(vec!["-Xmx1g".to_owned(), "-Xms1g".to_owned()]));
        assert_eq!((options.users, options.forks), (Some(3), Some(5)));
        assert_eq!((options.spin, options.control, options.hiccups), (Some(false), Some(true), Some(true)));
        assert_eq!(options.warmup_all_cpus, Some(false));
        assert_eq!(options_of(&[]), Options::default());
        let jvm_options = |text: &str| options_of(&["--jvm-options", text]).jvm_options.unwrap();
        assert_eq!(jvm_options(" -Xmx1g  -Xms1g"), ["-Xmx1g", "-Xms1g"]);
        assert!(jvm_options("").is_empty(), "none at all, not one without a letter");
    }

    #[test]
    fn flags_that_contradict_one_another_are_refused() {
        for args in [
            &["--budget", "1m", "--forks", "3"][..],
            &["--at-least", "3", "--forks", "3"],
            &["--slo", "p99<4ms", "-d", "5"],
            &["-d", "5", "--forks", "3"],
            &["-d", "5", "--budget", "1m"],
            &["-d", "5", "--aa", "a"],
            &["--slo-by", "users"],
            &["--aa", "a", "-s", "b"],
            &["--users", "many"],
            &["--resume", "--contract", "own.toml"],
        ] {
            assert!(Cli::try_parse_from([&["tare", "run"], args].concat()).is_err(), "{args:?}");
        }
    }
}
