//! Projects of Gradle: which jar, and who makes it.

use super::*;

#[test]
fn gradle_names_what_its_plug_ins_make() {
    let jar = &format!("{JAVA} build/libs");
    let settings = ("settings.gradle", "rootProject.name = 'own'\n");
    let boot = "plugins { id 'org.springframework.boot' version '3.2.0' }\n";
    let literal = format!("{boot}version = '2.0'\n");
    let files = [("build.gradle", &literal[..]), settings, ("gradlew", "")];
    assert_known(&files, "Gradle", Some("./gradlew -q bootJar"), &format!("{jar}/own-2.0.jar"));
    let files = [("build.gradle", boot), ("gradle.properties", "version=3.1\n")];
    assert_known(&files, "Gradle", Some("gradle -q bootJar"), &format!("{jar}/demo-3.1.jar"));
    for plugin in ["plugins { id(\"application\") }", "plugins {\n  application\n}", "apply plugin: 'application'"] {
        let program = "build/install/own/bin/own";
        assert_known(&[("build.gradle.kts", plugin), settings], "Gradle", Some("gradle -q installDist"), program);
    }
    let aliased = "plugins {\n  alias(libs.plugins.spring.boot)\n}\nversion = \"1.0\"\n";
    let catalog = |plugin: &str| format!("[plugins]\nspring-boot = {plugin}\n");
    for plugin in ["{ id = \"org.springframework.boot\", version = \"3.4.0\" }", "\"org.springframework.boot:3.4.0\""] {
        let files = [("build.gradle.kts", aliased), settings, ("gradle/libs.versions.toml", &catalog(plugin)[..])];
        assert_known(&files, "Gradle", Some("gradle -q bootJar"), &format!("{jar}/own-1.0.jar"));
    }
    for (line, name) in [
        ("bootJar { archiveFileName = 'app.jar' }", "app.jar"),
        ("tasks.bootJar { archiveFileName.set(\"a.jar\") }", "a.jar"),
        ("bootJar { archiveBaseName = 'shop' }", "shop-2.0.jar"),
        ("bootJar { archiveClassifier = 'boot' }", "own-2.0-boot.jar"),
        ("bootJar { archiveVersion = '' }", "own.jar"),
        ("base { archivesName = 'shop' }", "shop-2.0.jar"),
        ("jar { manifest { attributes('A': 'b') }\n archiveBaseName = 'plain' }", "own-2.0.jar"),
        ("tasks.named<Jar>(\"jar\") { archiveClassifier.set(\"plain\") }", "own-2.0.jar"),
        ("task sourcesJar(type: Jar) { archiveClassifier = 'sources' }", "own-2.0.jar"),
        ("tasks.withType(Jar) { archiveVersion = project.version }", "own-2.0.jar"),
        ("jar {\n archiveFileName = 'a.jar'\n}\nbootJar {\n archiveFileName = 'b.jar'\n}", "b.jar"),
    ] {
        let text = format!("{literal}{line}\n");
        assert_known(
            &[("build.gradle", &text), settings],
            "Gradle",
            Some("gradle -q bootJar"),
            &format!("{jar}/{name}"),
        );
    }
    let named = format!("{literal}bootJar {{ archiveFileName = \"$x.jar\" }}\n");
    assert_doubted(&[("build.gradle", &named)], "does not say the name of the jar: archiveFileName = \"$x.jar\"");
    let named = format!("{literal}bootJar {{ archiveClassifier = kind() }}\n");
    assert_doubted(&[("build.gradle", &named)], "does not say the name of the jar: archiveClassifier = kind(");
    let of_others = "plugins {\n  id 'org.springframework.boot' version '3.2.0' apply false\n  id 'java'\n}\n";
    assert_doubted(&[("build.gradle", of_others)], "makes no program");
    let shadow =
        "plugins { id 'com.gradleup.shadow' }\nversion = '1'\njar { manifest { attributes 'Main-Class': 'A' } }";
    let files = [("build.gradle", shadow), settings];
    assert_known(&files, "Gradle", Some("gradle -q shadowJar"), &format!("{jar}/own-1-all.jar"));
    assert_doubted(&[("build.gradle.kts", "plugins { id(\"java\") }\nversion = \"1.0\"\n")], "makes no program");
    let computed = format!("{boot}version = gitVersion()\n");
    assert_doubted(&[("build.gradle", &computed)], "its version is made by the build");
}
