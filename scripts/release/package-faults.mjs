import {posix} from 'node:path';

/** Maximum unpacked size of the package, a tenth of a megabyte more than it has; most of it is the kubelet's code. */
const MAX_BYTES = 5_250_000;

/** Files that the package may contain. */
const EXPECTED = [
  /^(?:README\.md|LICENSE|CHANGELOG\.md|package\.json)$/,
  /^bin\/(?:kcri\.js|package\.json)$/,
  /^dist\/quick\/[\w-]+\.cjs$/,
  /^dist\/library\/[\w-]+\.js$/,
  /^dist\/(?:cri|base)\/(?:[\w-]+\/)*[\w-]+\.d\.ts$/,
  /^dist\/THIRD-PARTY-NOTICES\.txt$/,
  /^dist\/man\/kcri[\w-]*\.1\.gz$/,
  /^proto\/runtime\/v1\/api\.proto$/,
];

/** Paths of the build machine, in addition to that of the checkout. */
const MACHINE_PATHS = /(?:file:\/\/)?\/(?:home|root|work|tmp|Users)\/[\w.-]+\/[\w./-]+|sourceMappingURL=/g;

/**
 * Returns the faults of a package, one per line.
 *
 * @param {object} pack
 * @param {readonly {path: string, text: string, size: number}[]} pack.files
 * @param {object} pack.manifest package.json
 * @param {readonly string[]} pack.pages names of the existing manual pages
 * @param {string} pack.root the checkout
 * @returns {readonly string[]}
 */
export function findPackageFaults({files, manifest, pages, root}) {
  const bytes = files.reduce((sum, {size}) => sum + size, 0);
  return [
    ...(bytes > MAX_BYTES ? [`it has ${bytes} bytes unpacked, more than ${MAX_BYTES}`] : []),
    ...files
      .filter(({path}) => !EXPECTED.some((pattern) => pattern.test(path)))
      .map(({path}) => `${path} is in it`),
    ...files.flatMap(({path, text}) => machinePaths(text, root).map((found) => `${path} has ${found}`)),
    ...importFaults(files, manifest),
    ...manFaults(manifest.man ?? [], pages),
  ];
}

function machinePaths(text, root) {
  const found = text.match(MACHINE_PATHS) ?? [];
  return [...new Set([...(text.includes(root) ? [root] : []), ...found])];
}

/** Files whose imports are checked. The program's chunks contain everything but the dependencies. */
const LIBRARY = /^dist\/library\/|\.d\.ts$/;
const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*["']([\w@./:-]+)["']/g;

function importFaults(files, {name: own, dependencies}) {
  const paths = new Set(files.map(({path}) => path));
  const declared = Object.keys(dependencies);
  const unused = declared.filter(
    (name) => !files.some(({path, text}) => isCode(path) && text.includes(`"${name}"`)),
  );
  return [
    ...unused.map((name) => `${name} is a dependency that nothing imports`),
    ...files
      .filter(({path}) => LIBRARY.test(path))
      .flatMap(({path, text}) =>
        [...text.matchAll(IMPORT)].flatMap(([, name]) => {
          if (!name.startsWith('.'))
            return [own, ...declared].includes(name) || name.startsWith('node:')
              ? []
              : [`${path} imports ${name}, which is not a dependency`];
          const file = posix.join(
            posix.dirname(path),
            path.endsWith('.ts') ? name.replace(/\.js$/, '.d.ts') : name,
          );
          return paths.has(file) ? [] : [`${path} imports ${file}, which is not in it`];
        }),
      ),
  ];
}

const isCode = (path) => /\.c?js$/.test(path);

/** Checks package.json's "man": npm only installs listed pages, not directories. scripts/man.mjs writes the list. */
function manFaults(listed, pages) {
  const files = pages.map((page) => `./dist/man/${page}.gz`);
  return [
    ...files
      .filter((file) => !listed.includes(file))
      .map((file) => `${file} is missing in package.json's "man"`),
    ...listed
      .filter((file) => !files.includes(file))
      .map((file) => `package.json's "man" has ${file}, which isn't there`),
  ];
}
