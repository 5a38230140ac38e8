//! The launch agent of launchd (its manual, "launchd.plist").

use std::path::Path;

use quick_xml::escape::escape;

use super::Service;

/// The agent of `service`, for the user whose home is `home`. launchd reads no variables from a file:
/// credentials stand in the file that `token_file` of the user's configuration names.
pub(super) fn agent(service: &Service, home: &Path) -> String {
    let words: String = service
        .words
        .iter()
        .map(|word| format!("\t\t<string>{}</string>\n", escape(word.as_str())))
        .collect();
    let variables: String = service
        .variables
        .iter()
        .map(|(name, value)| {
            format!("\t\t<key>{name}</key>\n\t\t<string>{}</string>\n", escape(value.as_str()))
        })
        .collect();
    let log = home.join("Library/Logs").join(format!("{}.log", service.name)).display().to_string();
    let (name, log, stop_limit) =
        (escape(service.name.as_str()), escape(log.as_str()), service.stop_limit.as_secs());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n\
         <dict>\n\
         \t<key>Label</key>\n\
         \t<string>{name}</string>\n\
         \t<key>ProgramArguments</key>\n\
         \t<array>\n\
         {words}\
         \t</array>\n\
         \t<key>EnvironmentVariables</key>\n\
         \t<dict>\n\
         {variables}\
         \t</dict>\n\
         \t<key>RunAtLoad</key>\n\
         \t<true/>\n\
         \t<key>KeepAlive</key>\n\
         \t<dict>\n\
         \t\t<key>SuccessfulExit</key>\n\
         \t\t<false/>\n\
         \t</dict>\n\
         \t<key>ExitTimeOut</key>\n\
         \t<integer>{stop_limit}</integer>\n\
         \t<key>ProcessType</key>\n\
         \t<string>Background</string>\n\
         \t<key>StandardErrorPath</key>\n\
         \t<string>{log}</string>\n\
         </dict>\n\
         </plist>\n"
    )
}

#[cfg(test)]
mod tests {
    use quick_xml::{Reader, events::Event};

    use super::{super::tests::service, *};

    #[test]
    fn every_word_stands_for_itself() {
        let service = service("/Users/ada/a <b> & \"c\"", None);
        let agent = agent(&service, Path::new("/Users/ada"));
        let mut reader = Reader::from_str(&agent);
        let (mut texts, mut text) = (Vec::new(), String::new());
        loop {
            match reader.read_event().unwrap() {
                Event::Eof => break,
                Event::Text(part) => text += &part.xml10_content(),
                Event::GeneralRef(name) => {
                    text += match &*name.xml10_content() {
                        "lt" => "<",
                        "gt" => ">",
                        "amp" => "&",
                        "quot" => "\"",
                        other => panic!("{other}"),
                    }
                }
                Event::End(_) => texts.push(std::mem::take(&mut text).trim().to_owned()),
                _ => {}
            }
        }
        let words: Vec<&str> = service.words.iter().map(String::as_str).collect();
        assert!(texts.windows(words.len()).any(|some| some == words), "{texts:?}");
        assert!(texts.contains(&"40".to_owned()));
        assert!(texts.windows(2).any(|some| *some == ["XDG_STATE_HOME", "/s t/100%"]), "{texts:?}");
    }
}
