/**
 * Builds dist/release, the files published for a version: the npm package, an archive per target that is extracted to
 * /usr/local, their bills of materials, and checksums. The same commit always gives the same bytes.
 * Usage: npm run release [-- [--folder FOLDER] TARGET…]      (default all targets)
 */
import {execFile} from 'node:child_process';
import {chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {parseArgs, promisify} from 'node:util';
import {gunzipSync} from 'node:zlib';
import {bundle, bundledModules} from './bundle.mjs';
import {buildBinaries} from './build-binary.mjs';
import {BUN, TARGETS} from './binary/runtimes.mjs';
import {fileDigest} from './file-digest.mjs';
import {writeArchive} from './release/archive.mjs';
import {modulesIn, notices, listPackages, readJson} from './release/packages.mjs';
import {sbom} from './release/sbom.mjs';

const run = promisify(execFile);
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Components of Bun, as listed in its LICENSE.md. */
const BUN_COMPONENTS = readJson(join(ROOT, 'scripts/release/bun-components.json'));

const sha256Of = (file) => fileDigest(file, 'sha256', 'hex');

/** Writes a release of the built checkout to an empty directory. */
async function release(folder, targets) {
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
  await withFolder((scratch) => releaseExecutables({folder, targets, scratch, manifest, time, describe}));
  await writeChecksums(folder);
}

async function releaseExecutables({folder, targets, scratch, manifest, time, describe}) {
  const {files, metafile} = await buildBinaries(targets, {folder: scratch});
  const packages = listPackages(ROOT, modulesIn(metafile));
  for (const [index, target] of targets.entries()) {
    const name = `kcri-${manifest.version}-${target}.tar.gz`;
    const runtime = {...BUN.packages[target], version: BUN.version, components: BUN_COMPONENTS};
    await withFolder(async (stage) => {
      await layOut(stage, {program: files[index], noticesText: notices(ROOT, packages, runtime)});
      await writeArchive(stage, join(folder, name), time);
    });
    await describe(name, packages, runtime);
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
  return await withFolder(async (folder) => listPackages(ROOT, bundledModules(await bundle(folder))));
}

async function withFolder(use) {
  const folder = await mkdtemp(join(tmpdir(), 'kcri-release-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, {recursive: true});
  }
}

/** Writes the files below `folder`, as in /usr/local. */
async function layOut(folder, {program, noticesText}) {
  const {COMPLETION_SCRIPTS: scripts} = await import(
    pathToFileURL(join(ROOT, 'dist/features/completion/completion-scripts.js')).href
  );
  const texts = {
    'share/bash-completion/completions/kcri': scripts.bash('kcri'),
    'share/zsh/site-functions/_kcri': scripts.zsh('kcri'),
    'share/fish/vendor_completions.d/kcri.fish': scripts.fish('kcri'),
    'share/doc/kcri/THIRD-PARTY-NOTICES.txt': noticesText,
  };
  for (const name of await readdir(join(ROOT, 'dist/man')))
    texts[`share/man/man1/${name.replace(/\.gz$/, '')}`] = gunzipSync(
      await readFile(join(ROOT, 'dist/man', name)),
    );
  for (const [name, text] of Object.entries(texts)) {
    await mkdir(join(folder, dirname(name)), {recursive: true});
    await writeFile(join(folder, name), text);
  }
  for (const name of ['LICENSE', 'README.md', 'CHANGELOG.md'])
    await copyFile(join(ROOT, name), join(folder, 'share/doc/kcri', name));
  for (const entry of await readdir(folder, {recursive: true, withFileTypes: true}))
    if (entry.isFile()) await chmod(join(entry.parentPath ?? entry.path, entry.name), 0o644);
  await mkdir(join(folder, 'bin'));
  await copyFile(program, join(folder, 'bin/kcri'));
  await chmod(join(folder, 'bin/kcri'), 0o755);
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

const {positionals, values} = parseArgs({allowPositionals: true, options: {folder: {type: 'string'}}});
const unknown = positionals.find((target) => !TARGETS.includes(target));
if (unknown !== undefined) {
  process.stderr.write(`unknown target "${unknown}": use ${TARGETS.join(', ')}\n`);
  process.exitCode = 1;
} else {
  const folder = await makeFolder(values.folder);
  await release(folder, positionals.length > 0 ? positionals : TARGETS);
  for (const name of await readdir(folder)) process.stdout.write(`${join(folder, name)}\n`);
}
