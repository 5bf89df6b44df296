//! The releases that a bisection may try, in order from the good one to the bad one.

use tare_plan::PlanError;
use tare_plan::inventory::KnownServer;

/// The versions from `good` to `bad`: those of `listed`, or else of the catalog.
pub fn releases_between(
    good: &str,
    bad: &str,
    listed: Option<&[String]>,
    server: &KnownServer,
) -> Result<Vec<String>, PlanError> {
    if good == bad {
        return Err(PlanError::value("--bad", format!("{bad} is the good version too; give another")));
    }
    let all = listed.unwrap_or(&server.versions);
    for (place, version) in listed.into_iter().flatten().enumerate() {
        if version.is_empty() {
            return Err(PlanError::value("--versions", "has an empty version; leave out the comma"));
        }
        if all[..place].contains(version) {
            let message = format!("has {version} twice; give each version once, in order");
            return Err(PlanError::value("--versions", message));
        }
    }
    let place = |flag: &str, version: &str| {
        all.iter().position(|one| one == version).ok_or_else(|| {
            let which = if listed.is_some() { "--versions has" } else { "the catalog has" };
            let message = format!(
                "{version} is not among the versions of {}; {which} {}; give all with --versions, in order",
                server.name,
                all.join(", ")
            );
            PlanError::value(flag, message)
        })
    };
    let (good, bad) = (place("--good", good)?, place("--bad", bad)?);
    let mut between = all[good.min(bad)..=good.max(bad)].to_vec();
    if good > bad {
        between.reverse();
    }
    Ok(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(versions: &[&str]) -> Vec<String> {
        versions.iter().map(|version| (*version).to_owned()).collect()
    }

    #[test]
    fn the_list_is_cut_to_the_two_versions_and_put_in_order() {
        // A catalog lists the newest version first.
        let server = KnownServer {
            name: "a.Layer".to_owned(),
            versions: texts(&["1.11.5", "1.10.0", "1.9.11", "1.9.10", "1.8.1"]),
            ..KnownServer::default()
        };
        let between = |good, bad, listed| releases_between(good, bad, listed, &server);
        assert_eq!(between("1.9.10", "1.11.5", None).unwrap(), texts(&["1.9.10", "1.9.11", "1.10.0", "1.11.5"]));
        assert_eq!(between("1.10.0", "1.9.11", None).unwrap(), texts(&["1.10.0", "1.9.11"]));
        let listed = texts(&["2.0-M1", "2.0-M2", "2.0"]);
        assert_eq!(between("2.0-M1", "2.0", Some(&listed)).unwrap(), listed);
    }

    #[test]
    fn versions_that_are_not_listed_or_the_same_are_refused_with_the_list() {
        let server = KnownServer { name: "a.Layer".to_owned(), versions: texts(&["2", "1"]), ..KnownServer::default() };
        for (good, bad, says) in [
            ("1", "3", "--bad: 3 is not among the versions of a.Layer; the catalog has 2, 1"),
            ("0", "2", "--good: 0 is not among"),
            ("1", "1", "--bad: 1 is the good version too"),
        ] {
            let error = releases_between(good, bad, None, &server).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
        for (listed, says) in
            [(&["1", "1", "2"][..], "--versions: has 1 twice"), (&["1", "2", ""], "--versions: has an empty version")]
        {
            let error = releases_between("1", "2", Some(&texts(listed)), &server).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
    }
}
