import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, readdir, rename, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';

const run = promisify(execFile);

/** Nothing could be fetched: the message says from where and why, one reason a suite. */
class SuiteError extends Error {}

/**
 * Unpacks one package of another Debian suite than the machine's into a folder, installing nothing: the mirror
 * is the machine's own, apt's lists and cache are private, apt checks the signatures. The first suite that has
 * the package wins. A package that was unpacked before is used again without asking the mirror.
 *
 * @param {{suites: readonly string[], package: string, into: string}} request `into` is the cache directory
 * @returns {Promise<string>} the directory with the package's files
 * @throws {SuiteError} when no suite gives the package, or the machine has no apt
 */
export async function fetchFromSuite({suites, package: name, into}) {
  return await fromFirst({
    suites,
    into,
    targetOf: (suite) => join(into, `${name}_${suite}`),
    fetch: (suite, target) => fetchPackage({suite, name, into, target}),
    failure: `the package "${name}" can't be fetched`,
  });
}

/**
 * Unpacks packages of a Debian suite and all that they depend on into a folder, as the files of a machine that has
 * nothing else. Nothing of them is configured: none of their scripts is run. A suite that was unpacked before is used
 * again without asking the mirror.
 *
 * @param {{suites: readonly string[], packages: readonly string[], architecture?: string, into: string}} request the
 *   first suite is taken that the mirror has; `architecture` is Debian's name of another one than the machine's, `into`
 *   the cache directory
 * @returns {Promise<string>} the directory
 * @throws {SuiteError} when no suite gives them, or the machine has no apt
 */
export async function fetchRoot({suites, packages, architecture, into}) {
  const what = [...(architecture === undefined ? [] : [architecture]), ...packages];
  return await fromFirst({
    suites,
    into,
    targetOf: (suite) => join(into, `root_${[suite, ...what].join('_')}`),
    fetch: (suite, target) => fetchClosure({suite, packages, architecture, into, target}),
    failure: 'no root of Debian can be made',
  });
}

/** The directory of the first suite that was fetched before, or else of the first that can be. */
async function fromFirst({suites, into, targetOf, fetch, failure}) {
  await mkdir(into, {recursive: true});
  for (const suite of suites) if (await isDirectory(targetOf(suite))) return targetOf(suite);
  const reasons = [];
  for (const suite of suites) {
    try {
      await fetch(suite, targetOf(suite));
      return targetOf(suite);
    } catch (error) {
      reasons.push(`${suite}: ${reasonOf(error)}`);
    }
  }
  throw new SuiteError(`${failure}: ${reasons.join('; ')}`);
}

async function fetchClosure({suite, packages, architecture, into, target}) {
  const scratch = await mkdtemp(join(into, '.fetch-'));
  try {
    const apt = await privateApt(scratch, suite, architecture);
    await run('apt-get', [...apt, '-qq', 'update']);
    await run('apt-get', [
      ...apt,
      '-qq',
      '-y',
      '--no-install-recommends',
      '--download-only',
      'install',
      ...packages,
    ]);
    const archives = join(scratch, 'cache/archives');
    const unpacked = join(scratch, 'unpacked');
    for (const deb of (await readdir(archives)).filter((file) => file.endsWith('.deb')))
      await run('dpkg-deb', ['-x', join(archives, deb), unpacked]);
    await moveInto(unpacked, target);
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
}

async function fetchPackage({suite, name, into, target}) {
  const scratch = await mkdtemp(join(into, '.fetch-'));
  try {
    const apt = await privateApt(scratch, suite);
    await run('apt-get', [...apt, '-qq', 'update']);
    await run('apt-get', [...apt, '-qq', 'download', name], {cwd: scratch});
    const deb = (await readdir(scratch)).find((file) => file.endsWith('.deb'));
    if (deb === undefined) throw new SuiteError('apt downloaded nothing');
    const unpacked = join(scratch, 'unpacked');
    await run('dpkg-deb', ['-x', join(scratch, deb), unpacked]);
    await moveInto(unpacked, target);
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
}

/** Another process may have finished first: its copy is as good. */
async function moveInto(unpacked, target) {
  try {
    await rename(unpacked, target);
  } catch (error) {
    if (!(await isDirectory(target))) throw error;
  }
}

/** The options that make apt see only `suite`, and keep its lists and cache below `scratch`. */
async function privateApt(scratch, suite, architecture) {
  const {uri, signedBy} = await debianMirror();
  const sources = join(scratch, 'sources.list');
  await writeFile(sources, `deb ${signedBy === '' ? '' : `[signed-by=${signedBy}] `}${uri} ${suite} main\n`);
  const nothing = join(scratch, 'nothing');
  for (const folder of ['nothing', 'state/lists/partial', 'cache/archives/partial'])
    await mkdir(join(scratch, folder), {recursive: true});
  await writeFile(join(scratch, 'status'), '');
  const options = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': nothing,
    'Dir::Etc::preferences': join(nothing, 'preferences'),
    'Dir::Etc::preferencesparts': nothing,
    'Dir::State': join(scratch, 'state'),
    'Dir::State::status': join(scratch, 'status'),
    'Dir::Cache': join(scratch, 'cache'),
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
    // A mirror that lags behind does: the signature still says whose the package is.
    'Acquire::Check-Valid-Until': 'false',
    // Otherwise an unreachable mirror is a warning and exit code 0.
    'APT::Update::Error-Mode': 'any',
    ...(architecture !== undefined && {
      'APT::Architecture': architecture,
      'APT::Architectures': architecture,
    }),
  };
  return Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/** Where this machine gets Debian's main archive from: the source of its own release, not of its updates. */
async function debianMirror() {
  const fields = ['CREATED_BY', 'COMPONENT', 'RELEASE', 'REPO_URI', 'SIGNED_BY'];
  const format = fields.map((field) => `$(${field})`).join('|');
  const {stdout} = await run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']);
  const targets = stdout.split('\n').map((line) => {
    const [, component, release, uri, signedBy = ''] = line.split('|');
    return {component, release, uri, signedBy: signedBy.startsWith('$(') ? '' : signedBy};
  });
  const mirror = targets.find(
    ({component, release, uri}) =>
      component === 'main' && /\/debian\/$/.test(uri) && !/-(updates|backports|security)/.test(release),
  );
  if (mirror === undefined) throw new SuiteError("apt's sources name no Debian archive");
  return mirror;
}

async function isDirectory(path) {
  return readdir(path).then(
    () => true,
    () => false,
  );
}

function reasonOf(error) {
  if (error.code === 'ENOENT') return `there is no ${error.path} on this machine`;
  const said = String(error.stderr ?? '').match(/(?<=^E: ).+/gm);
  return said === null ? error.message : said.join(', ');
}
