use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use wardline_cli::{Exit, Failure, Stdout, data_dir, progress_bar};
use wardline_email_corpus::{
    BuildInputs, Corpus, Lock, OwnMail, Profile, SenderAuth, ThreatType, assemble, compare_with_built, own_mail,
    read_mail, write_corpus,
};
use wardline_sources::agentdojo::{self, Builder, CorpusName, Progress, Status};

/// Differences that are printed; the rest are counted.
const SHOWN: usize = 20;

#[derive(Clone, Copy, ValueEnum)]
enum ProfileName {
    /// Our own material alone; needs nothing else
    Seeds,
    /// Our own material and AgentDojo's inbox scenarios
    Core,
    /// The published recipe; needs --upstream
    Full,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Seeds => Self::Seeds,
            ProfileName::Core => Self::Core,
            ProfileName::Full => Self::Full,
        }
    }
}

#[derive(Args)]
struct Recipe {
    /// What to build
    #[arg(long, value_name = "NAME", default_value = "core")]
    profile: ProfileName,
    /// Folder of the upstream data sets; see `mailbench corpus sources`
    #[arg(long, value_name = "DIR", required_if_eq("profile", "full"))]
    upstream: Option<PathBuf>,
    /// Take upstream files whose digest is not the pinned one
    #[arg(long)]
    accept_unpinned: bool,
    /// Add two surfaces beyond the published eight: calendar invitation and DOCX attachment
    #[arg(long)]
    extended: bool,
    /// Data folder [default: $WARDLINE_DATA, else data/ of the checkout, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Python for the exporter, 3.10 or later [default: the newest found]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    recipe: Recipe,
    /// Folder to write [default: mail/PROFILE in the data folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    recipe: Recipe,
    /// Folder to compare [default: mail/PROFILE in the data folder]
    #[arg(long, value_name = "DIR")]
    built: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct AddArgs {
    /// Folder, mbox file, Maildir, .tar.bz2 archive or .eml file
    mail: PathBuf,
    /// What all of the mail is
    #[arg(long, value_name = "LABEL", value_parser = threat)]
    label: ThreatType,
    /// Begins every id and names the corpus
    #[arg(long, default_value = "own")]
    name: String,
    /// Finer kind
    #[arg(long)]
    category: Option<String>,
    /// The sender's authentication [default: by content digest, with the published shares]
    #[arg(long, value_name = "CONDITION", value_parser = auth)]
    auth: Option<SenderAuth>,
    /// Data folder [default: $WARDLINE_DATA, else data/ of the checkout, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Folder to write [default: mail/NAME in the data folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

fn threat(name: &str) -> Result<ThreatType, String> {
    let all = || ThreatType::ALL.iter().map(|t| t.as_str()).collect::<Vec<_>>().join(", ");
    ThreatType::ALL.iter().find(|t| t.as_str() == name).copied().ok_or_else(|| format!("there are {}", all()))
}

fn auth(name: &str) -> Result<SenderAuth, String> {
    let all = || SenderAuth::ALL.iter().map(|t| t.as_str()).collect::<Vec<_>>().join(", ");
    SenderAuth::ALL.iter().find(|t| t.as_str() == name).copied().ok_or_else(|| format!("there are {}", all()))
}

impl Recipe {
    fn data(&self) -> Result<PathBuf, Failure> {
        Ok(data_dir(self.data_dir.as_deref())?.path)
    }

    fn assemble(&self) -> Result<Corpus, Failure> {
        let data = self.data()?;
        let profile = Profile::from(self.profile);
        let agentdojo_inbox = match profile {
            Profile::Seeds => None,
            _ => Some(inbox(&data, self.python.as_deref())?),
        };
        let inputs = BuildInputs {
            agentdojo_inbox,
            upstream: self.upstream.clone(),
            accept_unpinned: self.accept_unpinned,
            extended: self.extended,
        };
        let bar = progress_bar(0, "building the mail");
        let corpus = assemble(profile, &inputs);
        bar.finish_and_clear();
        Ok(corpus?)
    }

    /// Prints how the corpus differs from the lock, and gives the number of differences. A lock made from other inputs says nothing
    /// of the records, and a corpus with more surfaces has none.
    fn compare_with_lock(&self, corpus: &Corpus, out: &mut Stdout) -> Result<usize, Failure> {
        let lock = if self.extended { None } else { Lock::embedded(self.profile.into())? };
        let Some(lock) = lock else { return Ok(0) };
        let differences = lock.differences(corpus)?;
        if lock.is_for(corpus) {
            print(differences.iter().map(|d| (&*d.id, &*d.message)), "lock", out)?;
            return Ok(differences.len());
        }
        for d in differences.iter().filter(|d| d.message.starts_with("input")) {
            writeln!(out, "note: {}: {}; the records are not compared with the lock", d.id, d.message)?;
        }
        Ok(0)
    }
}

/// The file of AgentDojo's inbox scenarios, built when it is not there or not what its lock says.
fn inbox(data: &Path, python: Option<&Path>) -> Result<PathBuf, Failure> {
    if agentdojo::status(data, CorpusName::Inbox)? != Status::Built {
        let mut builder = Builder::new(data);
        if let Some(python) = python {
            builder = builder.python(python);
        }
        let bar = progress_bar(0, "looking for Python");
        let built = builder.build(&[CorpusName::Inbox], &mut |progress| match progress {
            Progress::Installing => bar.set_message("installing the exporter's packages"),
            Progress::Exporting { .. } => bar.set_message("exporting AgentDojo's inbox"),
            Progress::Checking => bar.set_message("comparing with the lock"),
            _ => {}
        });
        bar.finish_and_clear();
        built?;
    }
    Ok(agentdojo::file(data, CorpusName::Inbox))
}

pub(crate) fn build(args: &BuildArgs, out: &mut Stdout) -> Result<Exit, Failure> {
    let corpus = args.recipe.assemble()?;
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => args.recipe.data()?.join("mail").join(&corpus.name),
    };
    finish(&corpus, &folder, out)?;
    match args.recipe.compare_with_lock(&corpus, out)? {
        0 => Ok(Exit::Ok),
        n => fail(out, format!("{n} differences from the lock")),
    }
}

pub(crate) fn check(args: &CheckArgs, out: &mut Stdout) -> Result<Exit, Failure> {
    let corpus = args.recipe.assemble()?;
    let folder = match &args.built {
        Some(folder) => folder.clone(),
        None => args.recipe.data()?.join("mail").join(&corpus.name),
    };
    let locked = args.recipe.compare_with_lock(&corpus, out)?;
    let built = compare_with_built(&corpus, &folder)?;
    print(built.iter().map(|d| (&*d.id, &*d.message)), "built", out)?;
    if locked + built.len() == 0 {
        writeln!(out, "{}: {} records are what the build gives", folder.display(), corpus.items.len())?;
        return Ok(Exit::Ok);
    }
    fail(out, format!("{locked} differences from the lock, {} from what is built", built.len()))
}

pub(crate) fn add(args: &AddArgs, out: &mut Stdout) -> Result<Exit, Failure> {
    let options =
        OwnMail { name: args.name.clone(), threat: args.label, category: args.category.clone(), auth: args.auth };
    let corpus = own_mail(read_mail(&args.mail)?, &options)?;
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => data_dir(args.data_dir.as_deref())?.path.join("mail").join(&args.name),
    };
    finish(&corpus, &folder, out)?;
    Ok(Exit::Ok)
}

fn finish(corpus: &Corpus, folder: &Path, out: &mut Stdout) -> Result<(), Failure> {
    let manifest = write_corpus(corpus, folder)?;
    for note in &corpus.notes {
        writeln!(out, "note: {note}")?;
    }
    let roles = corpus.stats().role.into_iter().map(|(role, n)| format!("{n} {role}")).collect::<Vec<_>>();
    writeln!(out, "{}: {} records ({})", manifest.display(), corpus.items.len(), roles.join(", "))?;
    Ok(())
}

fn print<'a>(
    differences: impl Iterator<Item = (&'a str, &'a str)>,
    with: &str,
    out: &mut Stdout,
) -> Result<(), Failure> {
    let mut more = 0;
    for (n, (id, message)) in differences.enumerate() {
        if n < SHOWN {
            writeln!(out, "{with}: {id}: {message}")?;
        } else {
            more += 1;
        }
    }
    if more > 0 {
        writeln!(out, "{with}: and {more} more")?;
    }
    Ok(())
}

fn fail(out: &mut Stdout, message: String) -> Result<Exit, Failure> {
    out.flush()?;
    Err(Failure::new(Exit::Failed, message))
}
