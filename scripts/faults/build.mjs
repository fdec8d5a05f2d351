import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Compiles the programs of the fault campaign into a directory of the cache. Returns their paths.
 *
 * @param {string} name of the directory; concurrent builds need different ones
 */
export async function buildFaultPrograms(name) {
  const outdir = join(root, '.cache/faults', name);
  await build({
    entryPoints: ['shard', 'kubelet-process'].map((program) => join(root, `test/faults/${program}.ts`)),
    outdir,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  return {shard: join(outdir, 'shard.js'), kubeletProcess: join(outdir, 'kubelet-process.js')};
}
