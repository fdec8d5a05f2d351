import {copyFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {build} from 'esbuild';
import {modulesIn} from '../release/packages.mjs';

/** Files of the page that it loads at once, with their limits in bytes. The others are chunks that it loads when needed. */
const BUDGET = {'app.js': 64_000, 'app.css': 24_000};
/** Limit in bytes of all files together. xterm.js is most of it. */
const MAX_BYTES = 500_000;

/**
 * Writes the page of `kcri ui` and returns the modules with code in it. Rejects if it exceeds its budget.
 *
 * @param {string} root the checkout
 * @param {string} [outdir]
 */
export async function bundleUi(root, outdir = join(root, 'dist/ui')) {
  rmSync(outdir, {recursive: true, force: true});
  const {metafile} = await build({
    absWorkingDir: root,
    entryPoints: [
      {in: 'src/ui-page/main.tsx', out: 'app'},
      {in: 'src/ui-page/styles/page.css', out: 'app'},
    ],
    outdir,
    bundle: true,
    splitting: true,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    // Browsers of 2023: what `using`, constructed style sheets and CSS nesting need.
    target: ['chrome115', 'firefox117', 'safari17'],
    tsconfig: 'src/ui-page/tsconfig.json',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  copyFileSync(join(root, 'src/ui-page/index.html'), join(outdir, 'index.html'));
  const faults = findBudgetFaults(
    new Map(
      Object.entries(metafile.outputs).map(([path, {bytes}]) => [
        path.slice(path.lastIndexOf('/') + 1),
        bytes,
      ]),
    ),
  );
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return modulesIn(metafile);
}

/**
 * Returns how the page exceeds its budget, one fault per line.
 *
 * @param {ReadonlyMap<string, number>} sizes bytes by name of the file
 * @returns {readonly string[]}
 */
export function findBudgetFaults(sizes) {
  const total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  return [
    ...Object.entries(BUDGET).flatMap(([name, limit]) => {
      const bytes = sizes.get(name);
      if (bytes === undefined) return [`the page has no ${name}`];
      return bytes > limit ? [`${name} of the page has ${bytes} bytes, more than ${limit}`] : [];
    }),
    ...(total > MAX_BYTES ? [`the page has ${total} bytes, more than ${MAX_BYTES}`] : []),
  ];
}
