import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Compiles a program of `examples`, such as `device-plugin/plugin.ts`, to where its relative paths are right; returns the path. */
export async function compileExample(name: string): Promise<string> {
  const outfile = join(ROOT, '.cache', name.replace(/\.ts$/, '.mjs'));
  const entryPoints = [join(ROOT, 'examples', name)];
  await build({entryPoints, outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm'});
  return outfile;
}
