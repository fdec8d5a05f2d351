// The demo runs a Pod manifest on a private runtime. Every command is printed before it runs, and its output is
// checked. The demo always cleans up, even after a failure. `npm run demo` prepares the machine first.
import {spawn} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MANIFEST = 'examples/web.yaml';
const IMAGE = 'docker.io/library/busybox:1.36';

/** A step failed, or its output is not the expected one. */
class DemoError extends Error {}

// Ctrl-C is sent to the running command too, whose failure ends the demo, which then cleans up.
process.on('SIGINT', () => undefined);

const env = {...process.env};
delete env.CONTAINER_RUNTIME_ENDPOINT;
delete env.IMAGE_SERVICE_ENDPOINT;
delete env.CRI_CONFIG_FILE;

const started = Date.now();
env.KCRI_ROOT_DIR = await mkdtemp(join(tmpdir(), 'kcri-demo-'));
try {
  await demo();
} catch (error) {
  if (!(error instanceof DemoError)) throw error;
  process.stderr.write(`\nThe demo failed: ${error.message}. Cleaning up.\n`);
  process.exitCode = 1;
  await execute('kcri', ['delete', MANIFEST]);
} finally {
  await cleanUp();
}
if (process.exitCode !== 1) say(`The demo succeeded in ${((Date.now() - started) / 1000).toFixed(1)} s.`);

async function demo() {
  say('This demo runs kcri from this checkout, with all its state in one temporary directory:');
  show(`alias kcri=${join(ROOT, 'bin/kcri.js')}`);
  show(`export KCRI_ROOT_DIR=${env.KCRI_ROOT_DIR}`);

  say('Start a private container runtime:');
  show('export CONTAINER_RUNTIME_ENDPOINT=$(kcri runtime up)');
  const endpoint = await kcri(['runtime', 'up'], {isQuiet: true});
  expect(/^unix:\/\/\/\S+\n$/.test(endpoint), '"kcri runtime up" did not print exactly one endpoint');
  env.CONTAINER_RUNTIME_ENDPOINT = endpoint.trim();
  await run('printenv', ['CONTAINER_RUNTIME_ENDPOINT'], {equals: endpoint});
  await kcri(['runtime', 'status'], {contains: ['up: containerd is process', 'restrict_oom_score_adj']});

  say("Load an image built from this machine's busybox, so that no registry is needed:");
  const archive = join(env.KCRI_ROOT_DIR, 'busybox.tar');
  await run('node', ['scripts/test-images.mjs', archive], {});
  await kcri(['runtime', 'load', archive], {contains: [IMAGE]});
  await kcri(['images'], {contains: ['docker.io/library/busybox']});

  say('Show the CRI calls that a sync of this Pod would make, without making them:');
  const calls = ['RunPodSandbox', 'CreateContainer', 'StartContainer', 'CreateContainer', 'StartContainer'];
  await kcri(['plan', MANIFEST], {contains: calls.map((call, index) => `${index + 1}. ${call}`)});
  await kcri(['pods', '--quiet'], {equals: ''});

  say('Run the Pod:');
  const synced = await kcri(['sync', MANIFEST], {contains: ['web', 'page', 'server']});
  const ip = /\bIP (\d+\.\d+\.\d+\.\d+)/.exec(synced)?.[1];
  expect(ip !== undefined, '"sync" did not print the IP of the pod');

  say('Get the page that the init container wrote from the web server in the pod:');
  await run('busybox', ['wget', '-q', '-O', '-', `http://${ip}:8080/`], {
    equals: '<h1>Hello from web</h1>\n',
  });

  say('Inspect it with the commands of crictl:');
  const before = await kcri(['ps', '--no-trunc', '--quiet'], {});
  await kcri(['ps'], {contains: ['Running', 'server', 'web']});
  await kcri(['logs', 'web/server'], {contains: [`serving on http://${ip}:8080/`]});
  await kcri(['exec', '--sync', 'web/server', 'sh', '-c', 'echo "$POD_IP"'], {equals: `${ip}\n`});

  say('Sync again, which changes nothing:');
  await kcri(['sync', MANIFEST], {});
  await kcri(['ps', '--no-trunc', '--quiet'], {equals: before});

  say('Delete the Pod, and stop the runtime:');
  await kcri(['delete', MANIFEST], {});
  await kcri(['pods', '--quiet'], {equals: ''});
  await kcri(['runtime', 'down'], {});
  await kcri(['runtime', 'status'], {contains: ['down: not running, no files remain']});
}

/** Stops the runtime and then deletes the directory. A deletion would follow mounts that a running runtime has there. */
async function cleanUp() {
  const {exitCode} = await execute('kcri', ['runtime', 'down']);
  if (exitCode === 0) {
    await rm(env.KCRI_ROOT_DIR, {recursive: true, force: true});
    return;
  }
  process.stderr.write(
    `\nThe runtime could not be stopped; its files are in ${env.KCRI_ROOT_DIR}. Try again with:\n` +
      `kcri runtime down --root-dir ${env.KCRI_ROOT_DIR}\n`,
  );
  process.exitCode = 1;
}

/** Prints and runs a kcri command; see `run`. */
function kcri(args, expected) {
  return run('kcri', args, expected);
}

/**
 * Prints a command, runs it, and checks its exit code and output. If quiet, it prints neither command nor output.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{contains?: readonly string[], equals?: string, isQuiet?: boolean}} expected expected standard output
 * @returns {Promise<string>} its standard output
 */
async function run(program, args, {contains = [], equals, isQuiet = false}) {
  const command = [program, ...args].map(shellWord).join(' ');
  if (!isQuiet) show(command);
  const {stdout, exitCode} = await execute(program, args, isQuiet);
  expect(exitCode === 0, `"${command}" exited with ${exitCode ?? 'a signal'}`);
  for (const part of contains) expect(stdout.includes(part), `"${command}" did not print "${part}"`);
  expect(
    equals === undefined || stdout === equals,
    `"${command}" printed ${JSON.stringify(stdout)} instead of ${JSON.stringify(equals)}`,
  );
  return stdout;
}

async function execute(program, args, isQuiet = false) {
  const child = spawn(...commandLine(program, args), {cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit']});
  const chunks = [];
  child.stdout.on('data', (chunk) => {
    chunks.push(chunk);
    if (!isQuiet) process.stdout.write(chunk);
  });
  const exitCode = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return {stdout: Buffer.concat(chunks).toString(), exitCode};
}

/** Returns the file and arguments of a program: kcri of this checkout, and the node that runs this script. */
function commandLine(program, args) {
  if (program === 'kcri') return [process.execPath, [join(ROOT, 'bin/kcri.js'), ...args]];
  return [program === 'node' ? process.execPath : program, args];
}

function expect(condition, failure) {
  if (!condition) throw new DemoError(failure);
}

function say(text) {
  process.stdout.write(`\n# ${text}\n`);
}

function show(command) {
  process.stdout.write(`$ ${command}\n`);
}

/** Quotes a word for a shell. */
function shellWord(word) {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
