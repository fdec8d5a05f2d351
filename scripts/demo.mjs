// The demo: a Pod manifest becomes running containers on a private runtime. Every command is printed before it
// runs, as a person would type it, and its output is checked: the demo fails loudly when a step does not do what
// it shows. Whatever happens, nothing is left behind. `npm run demo` sets the machine up first.
import {spawn} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MANIFEST = 'examples/web.yaml';
const IMAGE = 'docker.io/library/busybox:1.36';

/** A step that didn't do what it shows. */
class DemoError extends Error {}

// Ctrl-C reaches the command that runs; its failure then ends the demo, which cleans up.
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
  process.stderr.write(`\nThe demo FAILED: ${error.message}. Cleaning up.\n`);
  process.exitCode = 1;
  await execute('kcri', ['delete', MANIFEST]);
} finally {
  await cleanUp();
}
if (process.exitCode !== 1) say(`All of it worked, in ${((Date.now() - started) / 1000).toFixed(1)} s.`);

async function demo() {
  say(`kcri is bin/kcri.js of this checkout; everything it keeps is below one directory.`);
  show(`alias kcri=${join(ROOT, 'bin/kcri.js')}`);
  show(`export KCRI_ROOT_DIR=${env.KCRI_ROOT_DIR}`);

  say('A container runtime for a machine that has none running:');
  show('export CONTAINER_RUNTIME_ENDPOINT=$(kcri runtime up)');
  const endpoint = await kcri(['runtime', 'up'], {isQuiet: true});
  expect(/^unix:\/\/\/\S+\n$/.test(endpoint), '"kcri runtime up" did not print an endpoint alone');
  env.CONTAINER_RUNTIME_ENDPOINT = endpoint.trim();
  await run('printenv', ['CONTAINER_RUNTIME_ENDPOINT'], {equals: endpoint});
  await kcri(['runtime', 'status'], {contains: ['up: containerd is process', 'restrict_oom_score_adj']});

  say("An image, made from this machine's busybox, since no registry is needed here:");
  const archive = join(env.KCRI_ROOT_DIR, 'busybox.tar');
  await run('node', ['scripts/test-images.mjs', archive], {});
  await kcri(['runtime', 'load', archive], {contains: [IMAGE]});
  await kcri(['images'], {contains: ['docker.io/library/busybox']});

  say('What would be asked of the runtime for this Pod, with nothing done yet:');
  const calls = ['RunPodSandbox', 'CreateContainer', 'StartContainer', 'CreateContainer', 'StartContainer'];
  await kcri(['plan', MANIFEST], {contains: calls.map((call, index) => `${index + 1}. ${call}`)});
  await kcri(['pods', '--quiet'], {equals: ''});

  say('And now done:');
  const synced = await kcri(['sync', MANIFEST], {contains: ['web', 'page', 'server']});
  const ip = /\bIP (\d+\.\d+\.\d+\.\d+)/.exec(synced)?.[1];
  expect(ip !== undefined, '"sync" told no IP of the pod');

  say('The page that the init container wrote, from the server in the pod:');
  await run('busybox', ['wget', '-q', '-O', '-', `http://${ip}:8080/`], {
    equals: '<h1>Hello from web</h1>\n',
  });

  say('Looking at it as with crictl:');
  const before = await kcri(['ps', '--no-trunc', '--quiet'], {});
  await kcri(['ps'], {contains: ['Running', 'server', 'web']});
  await kcri(['logs', 'web/server'], {contains: [`serving on http://${ip}:8080/`]});
  await kcri(['exec', '--sync', 'web/server', 'sh', '-c', 'echo "$POD_IP"'], {equals: `${ip}\n`});

  say('A second sync finds nothing to do:');
  await kcri(['sync', MANIFEST], {});
  await kcri(['ps', '--no-trunc', '--quiet'], {equals: before});

  say('And gone, without a trace:');
  await kcri(['delete', MANIFEST], {});
  await kcri(['pods', '--quiet'], {equals: ''});
  await kcri(['runtime', 'down'], {});
  await kcri(['runtime', 'status'], {contains: ['down: nothing runs, nothing is left']});
}

/** What could not be taken down may have mounts in the directory, and deleting would go through them. */
async function cleanUp() {
  const {exitCode} = await execute('kcri', ['runtime', 'down']);
  if (exitCode === 0) {
    await rm(env.KCRI_ROOT_DIR, {recursive: true, force: true});
    return;
  }
  process.stderr.write(
    `\nThe runtime could not be taken down; what is left is in ${env.KCRI_ROOT_DIR}. Try again with:\n` +
      `kcri runtime down --root-dir ${env.KCRI_ROOT_DIR}\n`,
  );
  process.exitCode = 1;
}

/** Prints and runs a kcri command; see `run`. */
function kcri(args, expected) {
  return run('kcri', args, expected);
}

/**
 * Prints a command, runs it, shows what it says and checks it. A quiet one is neither printed nor shown.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{contains?: readonly string[], equals?: string, isQuiet?: boolean}} expected of its standard output
 * @returns {Promise<string>} its standard output
 */
async function run(program, args, {contains = [], equals, isQuiet = false}) {
  const command = [program, ...args].map(shellWord).join(' ');
  if (!isQuiet) show(command);
  const {stdout, exitCode} = await execute(program, args, isQuiet);
  expect(exitCode === 0, `"${command}" ended with ${exitCode ?? 'a signal'}`);
  for (const part of contains) expect(stdout.includes(part), `"${command}" did not say "${part}"`);
  expect(
    equals === undefined || stdout === equals,
    `"${command}" said ${JSON.stringify(stdout)}, not ${JSON.stringify(equals)}`,
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

/** The program's file and arguments: kcri and node are those that run here. */
function commandLine(program, args) {
  if (program === 'kcri') return [process.execPath, [join(ROOT, 'bin/kcri.js'), ...args]];
  return [program === 'node' ? process.execPath : program, args];
}

function expect(isSo, otherwise) {
  if (!isSo) throw new DemoError(otherwise);
}

function say(text) {
  process.stdout.write(`\n# ${text}\n`);
}

function show(command) {
  process.stdout.write(`$ ${command}\n`);
}

/** As a shell reads it back. */
function shellWord(word) {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
