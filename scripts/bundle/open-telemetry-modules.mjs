import {existsSync} from 'node:fs';

/**
 * Returns an esbuild plugin that resolves OpenTelemetry's packages to their ES modules, of which esbuild omits what is not
 * used. Their main files are CommonJS, which is three times as large.
 *
 * @returns {import('esbuild').Plugin}
 */
export function openTelemetryModules() {
  return {
    name: 'open-telemetry-modules',
    setup(build) {
      build.onResolve({filter: /^@opentelemetry\//}, async ({path, pluginData, ...context}) => {
        if (pluginData === RESOLVING) return undefined;
        const {importer, kind, namespace, resolveDir} = context;
        const options = {importer, kind, namespace, resolveDir, pluginData: RESOLVING};
        const resolved = await build.resolve(path, options);
        const module = resolved.path.replace('/build/src/', '/build/esm/');
        return existsSync(module) ? {...resolved, path: module} : resolved;
      });
    },
  };
}

const RESOLVING = Symbol('resolving');
