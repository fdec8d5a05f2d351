import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, readdir, rename, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';

const run = promisify(execFile);

/** A download failed in every suite. The message has the reasons. */
class SuiteError extends Error {}

/**
 * Unpacks a package of another Debian suite into a directory without installing it. It uses the machine's mirror, with
 * private lists and a private cache of apt, which checks the signatures. The first suite with the package is used. An
 * unpacked package is reused without contacting the mirror.
 *
 * @param {{suites: readonly string[], package: string, into: string}} request `into` is the cache directory
 * @returns {Promise<string>} the directory with the package's files
 * @throws {SuiteError} if no suite has the package, or the machine has no apt
 */
export async function fetchFromSuite({suites, package: name, into}) {
  return await fetchFirst({
    suites,
    into,
    targetOf: (suite) => join(into, `${name}_${suite}`),
    fetch: (suite, target) => fetchPackage({suite, name, into, target}),
    failure: `the package "${name}" cannot be downloaded`,
  });
}

/**
 * Unpacks packages of a Debian suite and all their dependencies into a directory, as the root file system of a minimal
 * machine. The packages are not configured, so none of their scripts run. An unpacked suite is reused without
 * contacting the mirror.
 *
 * @param {{suites: readonly string[], packages: readonly string[], architecture?: string, into: string}} request the
 * first available suite is used; `architecture` is Debian's name of a foreign architecture, `into` the cache directory
 * @returns {Promise<string>} the directory
 * @throws {SuiteError} if no suite has the packages, or the machine has no apt
 */
export async function fetchRoot({suites, packages, architecture, into}) {
  const key = [...(architecture === undefined ? [] : [architecture]), ...packages];
  return await fetchFirst({
    suites,
    into,
    targetOf: (suite) => join(into, `root_${[suite, ...key].join('_')}`),
    fetch: (suite, target) => fetchClosure({suite, packages, architecture, into, target}),
    failure: 'a Debian root file system cannot be created',
  });
}

/** Returns the directory of the first suite unpacked earlier, or else of the first that can be downloaded. */
async function fetchFirst({suites, into, targetOf, fetch, failure}) {
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

/** Returns options that restrict apt to `suite` and keep its lists and cache below `scratch`. */
async function privateApt(scratch, suite, architecture) {
  const {uri, signedBy} = await debianMirror();
  const sources = join(scratch, 'sources.list');
  await writeFile(sources, `deb ${signedBy === '' ? '' : `[signed-by=${signedBy}] `}${uri} ${suite} main\n`);
  const empty = join(scratch, 'nothing');
  for (const folder of ['nothing', 'state/lists/partial', 'cache/archives/partial'])
    await mkdir(join(scratch, folder), {recursive: true});
  await writeFile(join(scratch, 'status'), '');
  const options = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': empty,
    'Dir::Etc::preferences': join(empty, 'preferences'),
    'Dir::Etc::preferencesparts': empty,
    'Dir::State': join(scratch, 'state'),
    'Dir::State::status': join(scratch, 'status'),
    'Dir::Cache': join(scratch, 'cache'),
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
    // An outdated mirror is acceptable: the signature still proves the origin of the package.
    'Acquire::Check-Valid-Until': 'false',
    // Otherwise an unreachable mirror is only a warning with exit code 0.
    'APT::Update::Error-Mode': 'any',
    ...(architecture !== undefined && {
      'APT::Architecture': architecture,
      'APT::Architectures': architecture,
    }),
  };
  return Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/**
 * Returns the source of Debian's main archive for this machine's own release, without updates.
 *
 * @returns {Promise<{uri: string, signedBy: string}>} `signedBy` is the path of the keyring, or empty
 * @throws {SuiteError} if there is none
 */
export async function debianMirror() {
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
  if (mirror === undefined) throw new SuiteError("apt's sources do not contain a Debian archive");
  return mirror;
}

async function isDirectory(path) {
  return readdir(path).then(
    () => true,
    () => false,
  );
}

function reasonOf(error) {
  if (error.code === 'ENOENT') return `${error.path} does not exist on this machine`;
  const output = String(error.stderr ?? '').match(/(?<=^E: ).+/gm);
  return output === null ? error.message : output.join(', ');
}
