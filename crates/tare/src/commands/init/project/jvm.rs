//! Projects of the JVM's build tools.

use std::path::Path;

use regex::Regex;
use roxmltree::Node;
use tare_plan::PlanError;

use super::{Project, child, file_among, first_match, folder_name, names_in, parse_xml, project, read, text_of};

/// Spring Boot reads the second, Quarkus the third.
const VARIABLES: &[&str] = &["PORT", "SERVER_PORT", "QUARKUS_HTTP_PORT"];

/// With a heap of one size, and fixed thresholds of the compilers: starts then differ less.
pub(super) const JAVA: &str = "java -Xms512m -Xmx512m -XX:Tier3LoadFeedback=100000 -XX:Tier4LoadFeedback=100000 \
                    -XX:Tier3DelayOn=100000 -jar";

/// A project whose jar starts by itself, or why there is none.
fn on_jvm(tool: &'static str, file: &str, build: &str, jar: Result<String, String>) -> Project {
    let command = jar.map(|jar| JAVA.split(' ').map(str::to_owned).chain([jar]).collect());
    Project { port_variables: VARIABLES, ..project(tool, file, Some(build), command) }
}

pub fn maven(folder: &Path) -> Result<Option<Project>, PlanError> {
    const FILE: &str = "pom.xml";
    let Some(text) = read(folder, FILE) else { return Ok(None) };
    let document = parse_xml(&folder.join(FILE), &text)?;
    let jar = maven_jar(document.root_element());
    // A module needs its siblings, which only the project above it builds.
    let name = folder_name(folder);
    let is_module = |above: &str| above.contains(&format!("<module>{name}</module>"));
    let build = if read(&folder.join(".."), FILE).is_some_and(|above| is_module(&above)) {
        let tool = if folder.join("../mvnw").exists() { "../mvnw" } else { "mvn" };
        format!("{tool} -q -B -f .. -pl {name} -am package -DskipTests")
    } else {
        let tool = if folder.join("mvnw").exists() { "./mvnw" } else { "mvn" };
        format!("{tool} -q -B package -DskipTests")
    };
    Ok(Some(on_jvm("Maven", FILE, &build, jar)))
}

/// What `mvn package` makes and `java -jar` starts.
fn maven_jar(pom: Node) -> Result<String, String> {
    let build = child(pom, "build");
    let plugins = build.and_then(|build| child(build, "plugins"));
    let plugin = |name: &str| plugins?.children().find(|plugin| text_of(*plugin, "artifactId") == Some(name));
    if plugin("quarkus-maven-plugin").is_some() {
        return Ok("target/quarkus-app/quarkus-run.jar".to_owned());
    }
    let packaging = text_of(pom, "packaging").unwrap_or("jar");
    let spring = plugin("spring-boot-maven-plugin");
    let has_main =
        |plugin: Node| plugin.descendants().any(|node| matches!(node.tag_name().name(), "mainClass" | "Main-Class"));
    let is_started = ["maven-jar-plugin", "maven-shade-plugin"].into_iter().filter_map(plugin).any(has_main);
    match packaging {
        "jar" if is_started || spring.is_some() => {}
        "war" if spring.is_some() => {}
        _ => {
            return Err(format!(
                "pom.xml makes no program that java -jar starts: its packaging is {packaging}, and neither Spring Boot, \
                 Quarkus nor a mainClass of the jar is there"
            ));
        }
    }
    let parent = child(pom, "parent").and_then(|parent| text_of(parent, "version"));
    let artifact = text_of(pom, "artifactId").ok_or("pom.xml has no artifactId")?;
    let version = text_of(pom, "version").or(parent).ok_or("pom.xml has no version")?;
    let name =
        build.and_then(|build| text_of(build, "finalName")).unwrap_or("${project.artifactId}-${project.version}");
    let properties = child(pom, "properties");
    let value = |key: &str| match key.strip_prefix("project.").unwrap_or(key) {
        "artifactId" => Some(artifact),
        "version" => Some(version),
        "parent.version" => parent,
        _ => text_of(properties?, key),
    };
    let mut classifiers = spring.into_iter().flat_map(|plugin| plugin.descendants());
    let classifier = classifiers.find(|node| node.tag_name().name() == "classifier").and_then(|node| node.text());
    let suffix = classifier.map_or_else(String::new, |classifier| format!("-{}", classifier.trim()));
    Ok(format!("target/{}{suffix}.{packaging}", interpolated(name, &value)?))
}

/// The text with its properties of Maven, which may have properties themselves.
fn interpolated<'a>(text: &str, value: &dyn Fn(&str) -> Option<&'a str>) -> Result<String, String> {
    // A property that contains itself would never end.
    const DEEPEST: usize = 8;
    let mut text = text.to_owned();
    for _ in 0..DEEPEST {
        let Some(key) = first_match(r"\$\{([^}]*)\}", &text) else { return Ok(text) };
        let doubt = || format!("pom.xml does not say the name of the jar: it has no value for ${{{key}}}");
        text = text.replace(&format!("${{{key}}}"), value(&key).ok_or_else(doubt)?);
    }
    Err(format!("pom.xml does not say the name of the jar: {text}"))
}

pub fn gradle(folder: &Path) -> Option<Project> {
    let file = file_among(folder, &["build.gradle", "build.gradle.kts"])?;
    let text = with_catalog(folder, without_unapplied(&without_comments(&read(folder, file)?)));
    let settings = ["settings.gradle", "settings.gradle.kts"].iter().find_map(|file| read(folder, file));
    let name = settings.and_then(|text| first_match(r#"rootProject\.name\s*=\s*['"]([^'"]+)"#, &text));
    let name = name.unwrap_or_else(|| folder_name(folder));
    // The script stands beside the settings, which may be those of the project above.
    let tool = ["./", "../", "../../"].into_iter().find(|above| folder.join(above).join("gradlew").exists());
    let tool = tool.map_or_else(|| "gradle".to_owned(), |above| format!("{above}gradlew"));
    let on_jvm = |task: &str, jar| on_jvm("Gradle", file, &format!("{tool} -q {task}"), jar);
    let jar = |task: &str| on_jvm(task, gradle_jar(folder, file, &of_jar(&text, task), &name, task));
    Some(if text.contains("org.springframework.boot") {
        jar("bootJar")
    } else if text.contains("io.quarkus") {
        on_jvm("quarkusBuild", Ok("build/quarkus-app/quarkus-run.jar".to_owned()))
    } else if first_match(r#"((?:^|[\s('"{;])application(?:['"\s);}]|$))"#, &text).is_some() {
        let name = first_match(r#"applicationName\s*=\s*['"]([^'"]+)"#, &text).unwrap_or(name);
        let program = format!("build/install/{name}/bin/{name}");
        let build = format!("{tool} -q installDist");
        Project { port_variables: VARIABLES, ..project("Gradle", file, Some(&build), Ok(vec![program])) }
    } else if text.contains("Main-Class") {
        jar(if text.contains("shadow") { "shadowJar" } else { "jar" })
    } else {
        let doubt = "makes no program: neither Spring Boot, Quarkus, the plug-in application nor a Main-Class is there";
        on_jvm("assemble", Err(format!("{file} {doubt}")))
    })
}

/// The text, followed by the plug-ins that it names by their aliases in the catalog of versions: `alias(libs.plugins.spring.boot)`.
fn with_catalog(folder: &Path, text: String) -> String {
    const FILE: &str = "gradle/libs.versions.toml";
    let catalog = ["", "..", "../.."].iter().find_map(|above| read(&folder.join(above), FILE));
    let catalog: toml::Table = catalog.and_then(|catalog| catalog.parse().ok()).unwrap_or_default();
    let plugins = catalog.get("plugins").and_then(toml::Value::as_table).into_iter().flatten();
    let named =
        plugins.filter(|(alias, _)| text.contains(&format!("libs.plugins.{})", alias.replace(['-', '_'], "."))));
    let id = |plugin: &toml::Value| plugin.get("id").unwrap_or(plugin).as_str().map(str::to_owned);
    let ids: Vec<String> = named.filter_map(|(_, plugin)| id(plugin)).collect();
    text + "\n" + &ids.join("\n")
}

/// The text without plug-ins that it names for its sub-projects only.
fn without_unapplied(text: &str) -> String {
    let unapplied = Regex::new(r"\b(?:id|alias)\b[^\n;{}]*?\bapply\s*\(?\s*false\b");
    unapplied.map_or_else(|_| text.to_owned(), |unapplied| unapplied.replace_all(text, "").into_owned())
}

/// The text without what it says of other jars than that of the task, such as the plain one beside it.
fn of_jar(text: &str, task: &str) -> String {
    let Ok(block) = Regex::new(r"[^\n;{}]*\b\w*[jJ]ar\b[^\n;{}]*\{") else { return text.to_owned() };
    let (mut kept, mut rest) = (String::new(), text);
    while let Some(head) = block.find(rest) {
        let mut depth = 1;
        let closing = rest[head.end()..].find(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        let end = closing.map_or(rest.len(), |closing| head.end() + closing + 1);
        // A type, as in `withType(Jar)`, is of all jars.
        let mut words = head.as_str().split(|c: char| !c.is_alphanumeric()).filter(|word| *word != "Jar");
        let name = words.find(|word| word.ends_with("jar") || word.ends_with("Jar"));
        let is_meant = name.is_none_or(|name| name.eq_ignore_ascii_case(task));
        kept += &rest[..if is_meant { end } else { head.start() }];
        rest = &rest[end..];
    }
    kept + rest
}

/// The jar that starts by itself, as the build names it or as Gradle does.
fn gradle_jar(folder: &Path, file: &str, text: &str, name: &str, task: &str) -> Result<String, String> {
    let doubt = |why: String| format!("{file} does not say the name of the jar: {why}");
    let set = |key: &str| {
        let value = first_match(&format!(r#"\b{key}\s*(?:=|\.set\(|\.value\()?\s*(['"][^'"]*['"])"#), text);
        let computed = || first_match(&format!(r"\b{key}\s*(?:=|\.set\(|\.value\()\s*([^\s)}}]+)"), text);
        let usual = ["name", "version", "project.name", "project.version", "rootProject.name"];
        match value.or_else(|| computed().filter(|value| !usual.contains(&value.as_str()))) {
            Some(value) if value.starts_with(['\'', '"']) && !value.contains('$') => {
                Ok(Some(value.trim_matches(['\'', '"']).to_owned()))
            }
            Some(value) => Err(doubt(format!("{key} = {value}"))),
            None => Ok(None),
        }
    };
    if let Some(whole) = set("archiveFileName")?.or(set("archiveName")?) {
        return Ok(format!("build/libs/{whole}"));
    }
    let of_all = set("archivesBaseName")?.or(set("archivesName")?);
    let version = match set("archiveVersion")? {
        Some(version) => version,
        None => gradle_version(folder, text).ok_or_else(|| doubt("its version is made by the build".to_owned()))?,
    };
    let usual_classifier = if task == "shadowJar" { "all" } else { "" };
    let parts = [
        set("archiveBaseName")?.or(of_all).unwrap_or_else(|| name.to_owned()),
        set("archiveAppendix")?.unwrap_or_default(),
        version,
        set("archiveClassifier")?.unwrap_or_else(|| usual_classifier.to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    Ok(format!("build/libs/{}.jar", parts.join("-")))
}

/// `1.0`; empty where the project has no version, and `None` where it is computed.
fn gradle_version(folder: &Path, text: &str) -> Option<String> {
    let literal = first_match(r#"(?m)^\s*version\s*=?\s*['"]([^'"$]+)['"]"#, text);
    if literal.is_none() && first_match(r"(?m)^\s*(version\s*=?\s*\S)", text).is_some() {
        return None;
    }
    let of_properties = || first_match(r"(?m)^\s*version\s*=\s*(\S+)", &read(folder, "gradle.properties")?);
    Some(literal.or_else(of_properties).unwrap_or_default())
}

pub fn sbt(folder: &Path) -> Option<Project> {
    let text = without_comments(&read(folder, "build.sbt")?);
    let sbt =
        |command| Project { port_variables: VARIABLES, ..project("sbt", "build.sbt", Some("sbt stage"), command) };
    let plugins = names_in(&folder.join("project")).into_iter().filter(|name| name.ends_with(".sbt"));
    let plugins: String = plugins.filter_map(|name| read(&folder.join("project"), &name)).collect();
    // Play contains it.
    let stages =
        ["sbt-native-packager", "org.playframework", "com.typesafe.play"].iter().any(|name| plugins.contains(name));
    if !stages || !text.contains("enablePlugins") {
        let doubt = "build.sbt makes no program: sbt-native-packager is not in project/*.sbt, or build.sbt has no \
                     enablePlugins(JavaAppPackaging)";
        return Some(sbt(Err(doubt.to_owned())));
    }
    let projects = Regex::new(r"\bval\s+(\w+)\s*=\s*\(?\s*(?:project\b|crossProject\b)").ok()?;
    let projects: Vec<&str> = projects.captures_iter(&text).filter_map(|found| Some(found.get(1)?.as_str())).collect();
    if projects.len() > 1 {
        return Some(sbt(Err(format!("build.sbt has several projects: {}", projects.join(", ")))));
    }
    let name = first_match(r#"\bname\s*:=\s*"([^"]+)""#, &text);
    let name = name.or_else(|| projects.first().map(|name| (*name).to_owned())).unwrap_or_else(|| folder_name(folder));
    // As sbt makes a normalizedName.
    let name = Regex::new(r"\W+").ok()?.replace_all(&name.to_lowercase(), "-").into_owned();
    Some(sbt(Ok(vec![format!("target/universal/stage/bin/{name}")])))
}

/// The text without `// …` at the start of a line or after a blank, and without `/* … */`.
fn without_comments(text: &str) -> String {
    let comment = Regex::new(r"(?ms)/\*.*?\*/|(?:^|[ \t])//[^\n]*");
    comment.map_or_else(|_| text.to_owned(), |comment| comment.replace_all(text, "").into_owned())
}
