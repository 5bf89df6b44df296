//! Lines for curl, and what becomes of them.

use super::*;

fn words(line: &str) -> Result<Vec<String>, String> {
    flags_of_line(line)
}

#[test]
fn a_line_of_a_browser_becomes_flags() {
    let line = "curl 'https://shop.example/api?x={{1}}' \\\n  -H 'accept: */*' \\\n  -b 'sid=1; theme=dark' \\\n  \
                --data-raw $'{\"a\":\"it\\'s \\u0041\"}' --compressed --insecure";
    let expected = [
        "https://shop.example/api?x=\\{{1}}",
        "-k",
        "-H",
        "accept: */*",
        "-H",
        "Cookie: sid=1; theme=dark",
        "-H",
        "Accept-Encoding: gzip",
        "-H",
        "Content-Type: application/x-www-form-urlencoded",
        "--data={\"a\":\"it's A\"}",
    ];
    assert_eq!(words(line).unwrap(), expected);
    let of_windows = line.replace('\n', "\r\n") + "\r\n";
    assert_eq!(words(&of_windows).unwrap(), expected);
    assert_eq!(words("curl --json 'a\r\nb' x").unwrap().last().unwrap(), "--data=a\r\nb", "the body is as it was");
}

#[test]
fn flags_of_curl_mean_what_they_mean_there() {
    for (line, flags) in [
        (
            "curl -sSXPUT http://x/ -d a=1 -d b=2 -H 'Content-Type: t/x'",
            "http://x/|-X|PUT|-H|Content-Type: t/x|--data=a=1&b=2",
        ),
        ("curl -G http://x/?a=1 --data-urlencode 'q=a b'", "http://x/?a=1&q=a%20b"),
        ("curl -I -u me:pw http://x/", "http://x/|-X|HEAD|-a|me:pw"),
        (
            "curl --json '{}' http://x/",
            "http://x/|-H|Content-Type: application/json|-H|Accept: application/json|--data={}",
        ),
        (
            "curl --json @a.json http://x/",
            "http://x/|-H|Content-Type: application/json|-H|Accept: application/json|-D|a.json",
        ),
        ("curl --json '{\"a\":' --json '1}' -H Accept: -H content-type: http://x/", "http://x/|--data={\"a\":1}"),
        ("curl -F a=b -F 'n={{1}}' http://x/", "http://x/|--multipart|--form|a=b|--form|n=\\{{1}}"),
        ("curl -T a.bin http://x/y", "http://x/y|-X|PUT|-D|a.bin"),
        ("curl -T up/a.bin http://x/b/", "http://x/b/a.bin|-X|PUT|-D|up/a.bin"),
        ("curl -G -d b=2 'http://x/a?c=3#f'", "http://x/a?c=3&b=2"),
        ("curl -b a=1 -b b=2 -A '' http://x/", "http://x/|-H|Cookie: a=1;b=2"),
        ("curl -b a=1 -H 'Cookie: c=3' http://x/", "http://x/|-H|Cookie: c=3"),
        (
            "curl -d @a.txt http://x/",
            "http://x/|-H|Content-Type: application/x-www-form-urlencoded|-D|a.txt|--no-line-ends",
        ),
        ("curl --data-ascii @a -H 'Content-Type: x/y' http://x/", "http://x/|-H|Content-Type: x/y|-D|a|--no-line-ends"),
        ("curl --data-binary @a.bin -H 'Content-Type: x/y' http://x/", "http://x/|-H|Content-Type: x/y|-D|a.bin"),
        ("curl -m 5 https://x/", "https://x/|--timeout|5"),
        ("curl -kL -X POST --insecure -u a:b --request PUT -u c:d http://x/", "http://x/|--follow|-k|-X|PUT|-a|c:d"),
        ("curl -L http://x/", "http://x/|--follow"),
        ("curl --data-raw $'\\ud83d\\ude00\\xe9' -H 'Content-Type:t/x' x", "x|-H|Content-Type:t/x|--data=\u{1f600}é"),
        ("curl -H 'X-Empty;' -H 'Accept:' -o /dev/null http://x/", "http://x/|-H|X-Empty:"),
        (
            "curl wss://x/ -H 'Origin: http://x' -H 'Sec-WebSocket-Extensions: permessage-deflate'",
            "wss://x/|-H|Origin: http://x",
        ),
    ] {
        assert_eq!(words(line).unwrap().join("|"), flags, "{line}");
    }
}

#[test]
fn a_body_may_begin_with_hyphens_as_a_form_of_a_browser_does() {
    let line =
        r"curl http://x/ -H 'content-type: multipart/form-data; boundary=--b' --data-raw $'----b\r\n\r\na\r\n----b--'";
    let cli = crate::args::parse(["tare", "load", "--curl", line]).unwrap();
    let crate::args::Command::Load(args) = cli.command else { panic!() };
    assert_eq!(args.request.data.as_deref(), Some("----b\r\n\r\na\r\n----b--"));
}

#[test]
fn what_has_no_counterpart_is_refused_with_its_name() {
    for (line, says) in [
        ("curl -x http://proxy http://x/", "--proxy has no counterpart"),
        ("curl --ftp-pasv http://x/", "--ftp-pasv of curl is not known"),
        ("wget http://x/", "does not begin with curl"),
        ("curl 'http://x/", "a quote is not closed"),
        ("curl ^\"http://x/^\" ^\n -H ^\"accept: */*^\"", "copy it as cURL (bash)"),
        ("curl -H", "--header has no value"),
        ("curl -s", "0 URLs"),
        (
            "curl --resolve x:443:10.0.0.1 https://x/",
            "--resolve has no counterpart: tare's own --connect-to HOST:PORT, outside",
        ),
        ("curl https://x/ --connect-to ::b:8443", "--connect-to has no counterpart"),
        ("curl http://x/ -d a -d @b", "text and a file"),
        ("curl -G http://x/ -d @b", "--get with a file"),
    ] {
        let error = words(line).unwrap_err();
        assert!(error.contains(says), "{line}: {error}");
    }
}

#[test]
fn only_a_load_has_such_a_line() {
    let of = |words: &[&str]| {
        let read = with_curl_line(words.iter().map(OsString::from).collect()).unwrap();
        read.into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(of(&["tare", "load", "--curl", "curl http://x/", "-c", "2"]), ["tare", "load", "http://x/", "-c", "2"]);
    assert_eq!(of(&["tare", "load", "--curl=curl http://x/"]), ["tare", "load", "http://x/"]);
    assert_eq!(of(&["tare", "run", "--curl", "x"]), ["tare", "run", "--curl", "x"]);
}

#[test]
fn a_flag_of_curl_is_named_as_one() {
    let said = |words: &[&str]| crate::args::parse(words).unwrap_err().to_string();
    for flag in ["--cookie", "-b", "--data-raw"] {
        let text = said(&["tare", "load", "http://x/", flag, "a=1"]);
        assert!(text.contains("is a flag of curl") && text.contains(flag) && text.contains("--curl"), "{text}");
    }
    let refused = said(&["tare", "load", "http://x/", "--resolve", "x:80:10.0.0.1"]);
    assert!(refused.contains("--resolve of curl has no counterpart: tare's own --connect-to"), "{refused}");
    for flag in ["--max-redirects", "--redirect=3", "--redirects", "--max-redirs"] {
        let text = said(&["tare", "load", "http://x/", flag, "5"]);
        assert!(text.contains(flag.split('=').next().unwrap()) && text.contains("is --follow=N here"), "{text}");
    }
    assert!(!said(&["tare", "run", "--cookie"]).contains("curl"));
    assert!(!said(&["tare", "load", "http://x/", "--nonsense"]).contains("curl"));
}
