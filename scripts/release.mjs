/**
 * Builds dist/release, the files published for a version: the npm package, an archive per target that is extracted to
 * /usr/local, a Debian and an rpm package per target with glibc, their bills of materials, and checksums. The same commit
 * always gives the same bytes.
 * Usage: npm run release [-- [--folder FOLDER] [--no-packages] TARGET…]      (default all targets)
 */
import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, readdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs, promisify} from 'node:util';
import {bundle, bundledModules} from './bundle.mjs';
import {bundleUi} from './bundle/ui.mjs';
import {buildBinaries} from './build-binary.mjs';
import {BUN, TARGETS} from './binary/runtimes.mjs';
import {fileDigest} from './file-digest.mjs';
import {writeArchive} from './release/archive.mjs';
import {explainMissingTools, writePackages} from './release/distribution/distribution.mjs';
import {sharedFiles, writeFiles} from './release/files.mjs';
import {modulesIn, notices, listPackages, readJson} from './release/packages.mjs';
import {sbom} from './release/sbom.mjs';

const run = promisify(execFile);
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Components of Bun, as listed in its LICENSE.md. */
const BUN_COMPONENTS = readJson(join(ROOT, 'scripts/release/bun-components.json'));

const sha256Of = (file) => fileDigest(file, 'sha256', 'hex');

/** Writes a release of the built checkout to an empty directory. */
async function release(folder, targets, hasPackages) {
  const manifest = readJson(join(ROOT, 'package.json'));
  const {packages: locked} = readJson(join(ROOT, 'package-lock.json'));
  const time = await commitTime();
  const describe = async (name, packages, runtime) => {
    const file = {name, sha256: await sha256Of(join(folder, name))};
    const bill = sbom({manifest, file, packages, locked, runtime, time});
    await writeFile(
      join(folder, `${name.replace(/\.(?:tgz|tar\.gz)$/, '')}.cdx.json`),
      `${JSON.stringify(bill, null, 2)}\n`,
    );
  };
  await describe(await packForNpm(folder), await packagesOfBundle());
  await withFolder((scratch) =>
    releaseExecutables({folder, targets, hasPackages, scratch, manifest, time, describe}),
  );
  await writeChecksums(folder);
}

async function releaseExecutables({folder, targets, hasPackages, scratch, manifest, time, describe}) {
  const {files, metafile} = await buildBinaries(targets, {folder: scratch});
  const packages = listPackages(ROOT, [...modulesIn(metafile), ...(await modulesOfPage())]);
  for (const [index, target] of targets.entries()) {
    const program = files[index];
    const runtime = {...BUN.packages[target], version: BUN.version, components: BUN_COMPONENTS};
    const noticesText = notices(ROOT, packages, runtime);
    const archive = `kcri-${manifest.version}-${target}.tar.gz`;
    await withFolder(async (stage) => {
      await writeFiles(stage, await archiveFiles({program, noticesText}), time);
      await writeArchive(stage, join(folder, archive), time);
    });
    const packed = {root: ROOT, manifest, target, program, noticesText, time};
    const names = [archive, ...(hasPackages ? await writePackages(packed, folder) : [])];
    for (const name of names) await describe(name, packages, runtime);
  }
}

/** Returns the time of the released commit in seconds, or SOURCE_DATE_EPOCH. */
async function commitTime() {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given !== undefined) return Number(given);
  const {stdout} = await run('git', ['log', '-1', '--format=%ct'], {cwd: ROOT});
  return Number(stdout);
}

async function packForNpm(folder) {
  const options = ['--json', '--ignore-scripts', '--pack-destination', folder];
  const {stdout} = await run('npm', ['pack', ...options], {cwd: ROOT});
  return JSON.parse(stdout)[0].filename;
}

/** Returns the packages in the bundle of the npm package, by bundling again. */
async function packagesOfBundle() {
  return await withFolder(async (folder) => {
    const modules = bundledModules(await bundle(folder));
    return listPackages(ROOT, [...modules, ...(await modulesOfPage())]);
  });
}

/** Returns the modules of the page of `kcri ui`, by bundling it again. */
async function modulesOfPage() {
  return await withFolder(async (folder) => await bundleUi(ROOT, folder));
}

async function withFolder(use) {
  const folder = await mkdtemp(join(tmpdir(), 'kcri-release-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, {recursive: true});
  }
}

/** Returns the files of an archive, relative to /usr/local. */
async function archiveFiles({program, noticesText}) {
  return [
    ...(await sharedFiles(ROOT, 'share/zsh/site-functions')),
    {path: 'share/doc/kcri/THIRD-PARTY-NOTICES.txt', text: noticesText},
    ...['LICENSE', 'README.md', 'CHANGELOG.md'].map((name) => ({
      path: `share/doc/kcri/${name}`,
      from: join(ROOT, name),
    })),
    {path: 'bin/kcri', from: program, mode: 0o755},
  ];
}

/** Writes SHA256SUMS in the format of `sha256sum --check`. */
async function writeChecksums(folder) {
  const names = (await readdir(folder)).sort();
  const lines = [];
  for (const name of names) lines.push(`${await sha256Of(join(folder, name))}  ${name}\n`);
  await writeFile(join(folder, 'SHA256SUMS'), lines.join(''));
}

/** Creates the directory. The default one is emptied first, and any other must be empty. */
async function makeFolder(given) {
  const folder = given ?? join(ROOT, 'dist/release');
  if (given === undefined) await rm(folder, {recursive: true, force: true});
  await mkdir(folder, {recursive: true});
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty`);
  return folder;
}

/** Returns why the release cannot be made, or undefined if it can. */
function findProblem(targets, hasPackages) {
  const unknown = targets.find((target) => !TARGETS.includes(target));
  if (unknown !== undefined) return `unknown target "${unknown}": use ${TARGETS.join(', ')}`;
  return hasPackages ? explainMissingTools() : undefined;
}

const {positionals, values} = parseArgs({
  allowPositionals: true,
  options: {folder: {type: 'string'}, 'no-packages': {type: 'boolean', default: false}},
});
const hasPackages = !values['no-packages'];
const problem = findProblem(positionals, hasPackages);
if (problem === undefined) {
  const folder = await makeFolder(values.folder);
  await release(folder, positionals.length > 0 ? positionals : TARGETS, hasPackages);
  for (const name of await readdir(folder)) process.stdout.write(`${join(folder, name)}\n`);
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
