//! Real XMPP servers on loopback, with TLS by the test's own authority. The system's configuration is neither used nor changed.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

/// The domain of every account, except where two servers federate.
pub(crate) const DOMAIN: &str = "chess.test";

/// The second server's domain.
pub(crate) const OTHER_DOMAIN: &str = "go.test";

/// A certificate authority, and a key with its certificate for both domains.
pub(crate) struct Authority {
    folder: tempfile::TempDir,
}

/// The validity of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    Right,
    /// Signed by the authority, for another domain.
    OtherName,
    /// Expired yesterday.
    Expired,
    /// Self-signed.
    Itself,
}

impl Authority {
    pub(crate) fn new() -> Self {
        Self::with(Proof::Right)
    }

    /// An authority whose servers have such a certificate.
    pub(crate) fn with(proof: Proof) -> Self {
        let names = match proof {
            Proof::OtherName => "DNS:elsewhere.test".to_owned(),
            Proof::Right | Proof::Expired | Proof::Itself => {
                format!("DNS:{DOMAIN},DNS:*.{DOMAIN},DNS:{OTHER_DOMAIN}")
            }
        };
        let days = if proof == Proof::Expired { "-1" } else { "30" };
        let signed = match proof {
            Proof::Itself => "-signkey leaf.key",
            Proof::Right | Proof::OtherName | Proof::Expired => "-CA ca.pem -CAkey ca.key -CAcreateserial",
        };
        let folder = tempfile::tempdir().expect("a directory");
        let authority = Self { folder };
        let path = authority.folder.path().to_owned();
        fs::write(
            path.join("leaf.ext"),
            format!(
                "subjectAltName={names}\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:false\n"
            ),
        )
        .expect("a file");
        let line = format!(
            "cd '{0}' && \
             openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj \"/CN=$(basename '{0}')\" \
               -addext keyUsage=critical,keyCertSign,cRLSign -addext basicConstraints=critical,CA:true \
               -keyout ca.key -out ca.pem && \
             openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={DOMAIN} -keyout leaf.key -out leaf.csr && \
             openssl x509 -req -in leaf.csr {signed} -days {days} -extfile leaf.ext -out leaf.pem && \
             cat leaf.pem leaf.key > both.pem && chmod 644 *.key *.pem && chmod 755 .",
            path.display()
        );
        let made = Command::new("sh").args(["-c", &line]).output().expect("sh runs");
        assert!(made.status.success(), "openssl: {}", String::from_utf8_lossy(&made.stderr));
        authority
    }

    pub(crate) fn certificate(&self) -> PathBuf {
        self.file("ca.pem")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A server that runs, or can be restarted with its data.
pub(crate) struct Server {
    kind: Kind,
    pub(crate) domain: &'static str,
    folder: tempfile::TempDir,
    /// Its address.
    ip: &'static str,
    port: u16,
    /// The port of Erlang's port mapper, one for each server here.
    epmd_port: u16,
    child: Option<Child>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Prosody,
    Ejabberd,
}

impl Server {
    pub(crate) fn start(kind: Kind, authority: &Authority) -> Self {
        Self::with(kind, authority, DOMAIN, "127.0.0.1", "")
    }

    /// Prosody with additional configuration, and a debug log.
    pub(crate) fn prosody_with(authority: &Authority, extra: &str) -> Self {
        let alone = "s2s_ports = { }\nmodules_disabled = { \"s2s\" }\n";
        Self::with(Kind::Prosody, authority, DOMAIN, "127.0.0.1", &format!("{alone}{extra}"))
    }

    /// Two servers of different domains that resolve each other by a file instead of the DNS, and trust only the authority.
    pub(crate) fn federated(authority: &Authority) -> [Self; 2] {
        for ip in FEDERATED.iter() {
            let free = TcpListener::bind((ip.as_str(), 5269));
            assert!(
                free.is_ok(),
                "something has port 5269, such as the system's own Prosody: stop it for this test"
            );
        }
        let hosts = authority.file("hosts");
        fs::write(&hosts, format!("{} {DOMAIN}\n{} {OTHER_DOMAIN}\n", FEDERATED[0], FEDERATED[1]))
            .expect("a file");
        let extra = format!(
            "s2s_secure_auth = true\ns2s_ports = {{ 5269 }}\nunbound = {{ resolvconf = false; hoststxt = \"{}\" }}\n",
            hosts.display()
        );
        [
            Self::with(Kind::Prosody, authority, DOMAIN, &FEDERATED[0], &extra),
            Self::with(Kind::Prosody, authority, OTHER_DOMAIN, &FEDERATED[1], &extra),
        ]
    }

    fn with(kind: Kind, authority: &Authority, domain: &'static str, ip: &'static str, extra: &str) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let port = free_port();
        let path = folder.path().to_owned();
        match kind {
            Kind::Prosody => {
                let extra = if extra.is_empty() {
                    "s2s_ports = { }\nmodules_disabled = { \"s2s\" }\n"
                } else {
                    extra
                };
                let config = prosody(&path, authority, (ip, port), domain, extra);
                fs::write(path.join("prosody.cfg.lua"), config).expect("a file");
            }
            Kind::Ejabberd => {
                fs::write(path.join("ejabberd.yml"), ejabberd(authority, port)).expect("a file");
                fs::write(path.join("ejabberdctl.cfg"), "INET_DIST_INTERFACE=127.0.0.1\n").expect("a file");
                // It runs as its own user.
                let own = format!("chown -R ejabberd '{}'", path.display());
                let owned = Command::new("sh").args(["-c", &own]).status().expect("sh runs");
                assert!(owned.success(), "the tests with ejabberd need root");
            }
        }
        let mut server = Self { kind, domain, folder, ip, port, epmd_port: free_port(), child: None };
        server.again();
        server
    }

    /// The address for clients.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.ip, self.port)
    }

    /// Kills it, as a power cut would.
    pub(crate) fn kill(&mut self) {
        for pid in self.processes() {
            let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process");
            // It may have ended with the process before.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Restarts it.
    pub(crate) fn again(&mut self) {
        let folder = self.folder.path();
        let log = fs::File::create(folder.join("out.log")).expect("a file");
        let errors = log.try_clone().expect("a file");
        let mut command = match self.kind {
            Kind::Prosody => {
                let mut command = Command::new("prosody");
                command.arg("-F").arg("--config").arg(folder.join("prosody.cfg.lua"));
                command
            }
            Kind::Ejabberd => {
                let mut command = Command::new("ejabberdctl");
                command.args(["--node", &self.node(), "--config-dir"]).arg(folder);
                command.arg("--config").arg(folder.join("ejabberd.yml")).arg("--logs").arg(folder);
                command.arg("--spool").arg(folder.join("spool")).arg("foreground");
                self.erlang(&mut command);
                command
            }
        };
        self.child =
            Some(command.stdout(log).stderr(errors).stdin(Stdio::null()).spawn().expect("the server runs"));
        // A limit for hangs: Erlang starts in 3 s, and needs over a minute on two cores with 14 other busy programs.
        for _ in 0..3000 {
            if TcpStream::connect(self.address()).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{:?} does not listen:\n{}", self.kind, self.log());
    }

    fn erlang(&self, command: &mut Command) {
        command.env("HOME", self.folder.path());
        command.env("ERL_EPMD_ADDRESS", "127.0.0.1").env("ERL_EPMD_PORT", self.epmd_port.to_string());
    }

    /// Its log since its start.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("out.log")).unwrap_or_default()
    }

    fn node(&self) -> String {
        format!("qiyou{}@localhost", self.port)
    }

    /// The server's processes: with ejabberd those that its script has started, under its node's name.
    fn processes(&self) -> Vec<u32> {
        let child = self.child.as_ref().map(Child::id);
        if self.kind == Kind::Prosody {
            return child.into_iter().collect();
        }
        let named = [b"-sname".to_vec(), self.node().into_bytes()];
        let is_ours = |pid: &u32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
            words.windows(2).any(|pair| pair == named)
        };
        let all = fs::read_dir("/proc").expect("processes").flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }

    /// Creates an account by the administration.
    pub(crate) fn make_account(&self, name: &str, password: &str) {
        match self.kind {
            Kind::Prosody => self.administer(&["user", "create", &format!("{name}@{DOMAIN}"), password]),
            Kind::Ejabberd => self.administer(&["register", name, DOMAIN, password]),
        }
    }

    /// Deletes the account by the administration.
    pub(crate) fn delete_account(&self, name: &str) {
        match self.kind {
            Kind::Prosody => self.administer(&["user", "delete", &format!("{name}@{DOMAIN}")]),
            Kind::Ejabberd => self.administer(&["unregister", name, DOMAIN]),
        }
    }

    /// Locks the account by the administration, with its reason.
    pub(crate) fn ban(&self, name: &str) {
        match self.kind {
            Kind::Prosody => self.administer(&[&format!(
                "c2s:close(\"{name}@{DOMAIN}/qiyou\", \"Not today\", \"policy-violation\")"
            )]),
            Kind::Ejabberd => self.administer(&["ban_account", name, DOMAIN, "Not today"]),
        }
    }

    /// Whether Prosody keeps messages for the account's next client (XEP-0160). In its archive (XEP-0313) they stay.
    pub(crate) fn has_offline_messages(&self, name: &str) -> bool {
        let file = format!("data/{}/offline/{name}.list", self.domain.replace('.', "%2e"));
        fs::metadata(self.folder.path().join(file)).is_ok_and(|file| file.len() > 0)
    }

    /// Memory of the server's process, in kB.
    pub(crate) fn resident_kb(&self) -> u64 {
        // Of ejabberd and its helpers the largest process is ejabberd.
        self.processes().into_iter().map(resident_kb).max().unwrap_or(0)
    }

    fn administer(&self, order: &[&str]) {
        let folder = self.folder.path();
        let mut command = match self.kind {
            Kind::Prosody => {
                let mut command = Command::new("prosodyctl");
                command.arg("--root").arg("--config").arg(folder.join("prosody.cfg.lua")).arg("shell");
                command
            }
            Kind::Ejabberd => {
                let mut command = Command::new("ejabberdctl");
                command.args(["--node", &self.node(), "--config-dir"]).arg(folder);
                self.erlang(&mut command);
                command
            }
        };
        let output = command.args(order).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
    }
}

/// Resident memory of a process, in kB.
pub(crate) fn resident_kb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        if self.kind == Kind::Ejabberd {
            // The port mapper outlives its nodes.
            let mut epmd = Command::new("epmd");
            self.erlang(&mut epmd);
            let _ = epmd.arg("-kill").stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port()
}

/// Addresses of the two federating servers: both use the protocol's standard port, and so addresses of this process alone.
static FEDERATED: LazyLock<[String; 2]> = LazyLock::new(|| {
    let [high, low] = (std::process::id() as u16).to_be_bytes();
    [2, 3].map(|last| format!("127.{high}.{low}.{last}"))
});

fn prosody(
    folder: &Path,
    authority: &Authority,
    (ip, port): (&str, u16),
    domain: &str,
    extra: &str,
) -> String {
    let [key, certificate, ca] = ["leaf.key", "leaf.pem", "ca.pem"].map(|name| authority.file(name));
    let s2s = if extra.contains("s2s_secure_auth") { ", \"dialback\", \"s2s_auth_certs\"" } else { "" };
    format!(
        r#"run_as_root = true
pidfile = "{folder}/pid"
data_path = "{folder}/data"
admin_socket = "{folder}/admin"
interfaces = {{ "{ip}" }}
c2s_ports = {{ {port} }}
http_ports = {{ }}
https_ports = {{ }}
modules_enabled = {{ "roster", "saslauth", "tls", "disco", "register", "register_ibr", "smacks", "ping", "blocklist", "admin_shell", "offline", "mam", "carbons"{s2s} }}
allow_registration = true
authentication = "internal_hashed"
c2s_require_encryption = true
network_settings = {{ nagle = false }}
log = {{ info = "*console" }}
{extra}ssl = {{ key = "{key}", certificate = "{certificate}", cafile = "{ca}" }}
VirtualHost "{domain}"
    ssl = {{ key = "{key}", certificate = "{certificate}", cafile = "{ca}" }}
"#,
        folder = folder.display(),
        key = key.display(),
        certificate = certificate.display(),
        ca = ca.display(),
    )
}

fn ejabberd(authority: &Authority, port: u16) -> String {
    format!(
        "hosts: [\"{DOMAIN}\"]\nloglevel: info\ncertfiles: [\"{both}\"]\nca_file: \"{ca}\"\n\
         listen:\n  - port: {port}\n    ip: \"127.0.0.1\"\n    module: ejabberd_c2s\n    starttls_required: true\n\
         \x20   access: c2s\n    shaper: none\n\
         auth_method: internal\nauth_password_format: scram\nregistration_timeout: infinity\n\
         access_rules:\n  c2s: {{allow: all}}\n  register: {{allow: all}}\n\
         modules:\n  mod_roster: {{}}\n  mod_register:\n    ip_access: all\n    access: register\n    welcome_message: {{}}\n\
         \x20 mod_stream_mgmt: {{}}\n  mod_ping: {{}}\n  mod_blocking: {{}}\n  mod_privacy: {{}}\n  mod_disco: {{}}\n  mod_offline: {{}}\n\
         \x20 mod_mam:\n    default: always\n  mod_admin_extra: {{}}\n  mod_carboncopy: {{}}\n",
        both = authority.file("both.pem").display(),
        ca = authority.file("ca.pem").display(),
    )
}
