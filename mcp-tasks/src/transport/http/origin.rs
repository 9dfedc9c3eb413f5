//! Which web pages may talk to the server: the guard against DNS rebinding.

use std::net::IpAddr;

/// Whether an `Origin` may send requests: pages of this machine, and the listed ones.
pub(super) fn is_allowed(origin: &str, listed: &[String]) -> bool {
    listed.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)) || is_loopback_origin(origin)
}

fn is_loopback_origin(origin: &str) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    matches!(scheme, "http" | "https") && is_loopback_host(authority)
}

/// Whether a `Host` is this machine or a listed one.
pub(super) fn is_host_allowed(host: &str, listed: &[String]) -> bool {
    listed.iter().any(|allowed| allowed.eq_ignore_ascii_case(host)) || is_loopback_host(host)
}

/// Whether a host, with or without a port, names this machine.
fn is_loopback_host(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => {
            let Some((host, port)) = rest.split_once(']') else {
                return false;
            };
            if !is_port_suffix(port) {
                return false;
            }
            host
        }
        None => match authority.split_once(':') {
            Some((host, port)) if is_port(port) => host,
            Some(_) => return false,
            None => authority,
        },
    };
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_port_suffix(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(is_port)
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    ///
    #[test]
    fn only_pages_of_this_machine_and_listed_ones_are_let_in() {
        let listed = ["https://app.example".to_owned()];
        for origin in [
            "http://localhost",
            "http://localhost:3000",
            "https://127.0.0.1:8080",
            "http://127.8.9.1",
            "http://[::1]:3000",
            "https://APP.example",
        ] {
            assert!(is_allowed(origin, &listed), "{origin}");
        }
        for origin in [
            "null",
            "",
            "http://evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://localhost:80@evil.example",
            "http://[::1",
            "http://[::1]evil.example",
            "file://localhost",
            "https://app.example.evil",
        ] {
            assert!(!is_allowed(origin, &listed), "{origin}");
        }
    }
}
