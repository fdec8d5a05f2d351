import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

/**
 * A package with code in a bundle.
 *
 * @typedef {object} BundledPackage
 * @property {string} name
 * @property {string} version
 * @property {string} license an SPDX expression
 * @property {string} path path in the checkout, as in package-lock.json: `node_modules/yaml`
 * @property {readonly string[]} dependencies names
 */

/**
 * Returns the packages of modules, sorted by path.
 *
 * @param {string} root the checkout
 * @param {Iterable<string>} modules paths relative to the checkout, as esbuild reports them
 * @returns {readonly BundledPackage[]}
 */
export function listPackages(root, modules) {
  const paths = new Set(
    [...modules].flatMap((module) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module) ?? []),
  );
  return [...paths].sort().map((path) => {
    const {name, version, license, ...needs} = readJson(join(root, path, 'package.json'));
    if (typeof license !== 'string') throw new Error(`${path} does not name its license`);
    return {
      name,
      version,
      license,
      path,
      dependencies: Object.keys({...needs.dependencies, ...needs.optionalDependencies}),
    };
  });
}

/** Returns the modules with code in a bundle. */
export function modulesIn({outputs}) {
  return Object.values(outputs).flatMap(({inputs}) =>
    Object.entries(inputs).flatMap(([module, {bytesInOutput}]) => (bytesInOutput > 0 ? [module] : [])),
  );
}

/**
 * Returns the license texts and notices that must be distributed with packages.
 *
 * @param {string} root the checkout
 * @param {readonly BundledPackage[]} packages
 * @param {import('./sbom.mjs').Runtime} [runtime] the bundled Bun, if any
 */
export function notices(root, packages, runtime) {
  const shown = new Map();
  const parts = packages.map(({name, version, license, path}) => {
    const files = readdirSync(join(root, path)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
    if (files.length === 0) throw new Error(`${path} has no license text`);
    const texts = files.sort().map((file) => readFileSync(join(root, path, file), 'utf8').trim());
    const text = texts.join('\n\n');
    const same = shown.get(text);
    shown.set(text, same ?? name);
    const shownText = same === undefined ? text : `The text is the same as that of ${same}.`;
    return `${RULE}\n${name} ${version} (${license})\n${RULE}\n\n${shownText}\n`;
  });
  const all = runtime === undefined ? parts : [...parts, noticeOfBun(runtime)];
  return `kcri contains the following third-party software.\n\n${all.join('\n')}`;
}

function noticeOfBun({version, components}) {
  const rows = components.map(({name, license, url}) => `- ${name}: ${license}; ${url}\n`);
  return `${RULE}
Bun ${version} (MIT), https://bun.com
${RULE}

The executable is the unchanged JavaScript runtime Bun with kcri in it. Bun's sources, its license, how to build it with
other versions of what it links, and the licenses of those are at https://github.com/oven-sh/bun/tree/bun-v${version}
(LICENSE.md). It links:

${rows.join('')}`;
}

const RULE = '-'.repeat(80);

export function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
