import {posix} from 'node:path';

/** What the package may have unpacked: 2 MiB. */
const MOST_BYTES = 2 * 1024 * 1024;

/** The folders that a package may have anything of, and the files beside them. */
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

/** Paths of the machine that it was made on, besides that of the checkout. */
const MACHINE_PATHS = /(?:file:\/\/)?\/(?:home|root|work|tmp|Users)\/[\w.-]+\/[\w./-]+|sourceMappingURL=/g;

/**
 * What is wrong with a package, a line each.
 *
 * @param {object} pack
 * @param {readonly {path: string, text: string, size: number}[]} pack.files
 * @param {object} pack.manifest package.json
 * @param {readonly string[]} pack.pages names of the manual pages that there are
 * @param {string} pack.root the checkout
 * @returns {readonly string[]}
 */
export function findPackageFaults({files, manifest, pages, root}) {
  const bytes = files.reduce((sum, {size}) => sum + size, 0);
  return [
    ...(bytes > MOST_BYTES ? [`it has ${bytes} bytes unpacked, more than ${MOST_BYTES}`] : []),
    ...files
      .filter(({path}) => !EXPECTED.some((form) => form.test(path)))
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

/** The program's chunks know each other by names, and bundling them has put all in but what is a dependency. */
const LIBRARY = /^dist\/library\/|\.d\.ts$/;
const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*["']([\w@./:-]+)["']/g;

function importFaults(files, {name: own, dependencies}) {
  const paths = new Set(files.map(({path}) => path));
  const wanted = Object.keys(dependencies);
  const unused = wanted.filter(
    (name) => !files.some(({path, text}) => isCode(path) && text.includes(`"${name}"`)),
  );
  return [
    ...unused.map((name) => `${name} is a dependency that nothing imports`),
    ...files
      .filter(({path}) => LIBRARY.test(path))
      .flatMap(({path, text}) =>
        [...text.matchAll(IMPORT)].flatMap(([, name]) => {
          if (!name.startsWith('.'))
            return [own, ...wanted].includes(name) || name.startsWith('node:')
              ? []
              : [`${path} imports ${name}, which is no dependency`];
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

/** npm installs the pages that are listed, and no folder; scripts/man.mjs lists them. */
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
