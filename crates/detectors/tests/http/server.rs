//! A real HTTP server on this machine that answers as a test says.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) at: Instant,
    pub(crate) method: String,
    pub(crate) path: String,
    /// By name in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Reply {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    },
    /// Says nothing for so long.
    Silent(Duration),
    /// Sends a byte every so often, without an end.
    Drip(Duration),
    /// Closes the connection without a word.
    Cut,
    /// Closes the connection in the middle of the body.
    CutBody,
    /// Sends so many bytes.
    Huge(usize),
}

impl Answer {
    pub(crate) fn json(body: &str) -> Self {
        Self::status(200, body)
    }

    pub(crate) fn status(status: u16, body: &str) -> Self {
        Self::Reply { status, headers: Vec::new(), body: body.as_bytes().to_vec() }
    }
}

pub(crate) struct Server {
    pub(crate) address: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    /// `answer` is given the request and how many came before it.
    pub(crate) fn start(answer: impl Fn(&Received, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (received.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, answer) = (log.clone(), answer.clone());
                thread::spawn(move || {
                    // The client may go away at any moment.
                    let _ = serve(&stream, &log, &*answer);
                });
            }
        });
        Self { address, received }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn serve(
    stream: &TcpStream,
    log: &Mutex<Vec<Received>>,
    answer: &(dyn Fn(&Received, usize) -> Answer + Send + Sync),
) -> std::io::Result<()> {
    let mut input = BufReader::new(stream);
    let mut output = stream;
    loop {
        let Some(request) = read_request(&mut input)? else { return Ok(()) };
        let before = {
            let mut log = log.lock().unwrap();
            log.push(request.clone());
            log.len() - 1
        };
        match answer(&request, before) {
            Answer::Reply { status, headers, body } => {
                let mut head = format!("HTTP/1.1 {status} Reason\r\nContent-Length: {}\r\n", body.len());
                for (name, value) in headers {
                    head += &format!("{name}: {value}\r\n");
                }
                output.write_all((head + "\r\n").as_bytes())?;
                output.write_all(&body)?;
            }
            Answer::Silent(time) => {
                thread::sleep(time);
                return Ok(());
            }
            Answer::Drip(each) => {
                output.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")?;
                for _ in 0..1_000_000 {
                    output.write_all(b" ")?;
                    thread::sleep(each);
                }
            }
            Answer::Cut => return stream.shutdown(Shutdown::Both),
            Answer::CutBody => {
                output.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"results\":")?;
                return stream.shutdown(Shutdown::Both);
            }
            Answer::Huge(bytes) => {
                output.write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n").as_bytes())?;
                let block = vec![b' '; 1 << 16];
                let mut left = bytes;
                while left > 0 {
                    let now = left.min(block.len());
                    output.write_all(&block[..now])?;
                    left -= now;
                }
            }
        }
        output.flush()?;
    }
}

fn read_request(input: &mut BufReader<&TcpStream>) -> std::io::Result<Option<Received>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let at = Instant::now();
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|l| l.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(Received { at, method, path, headers, body }))
}
