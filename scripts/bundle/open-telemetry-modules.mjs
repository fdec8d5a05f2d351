import {existsSync} from 'node:fs';

/**
 * Returns an esbuild plugin that resolves OpenTelemetry's packages to their ES modules, of which esbuild omits what is not
 * used. Their main files are CommonJS, which is three times as large. What they import at run time would make chunks beside
 * the program's, and one more file to load for each command: built-in modules stay external, and the ID of the machine is
 * unknown, since kcri does not detect the resources of a host.
 *
 * @returns {import('esbuild').Plugin}
 */
export function openTelemetryModules() {
  return {
    name: 'open-telemetry-modules',
    setup(build) {
      build.onResolve({filter: /^https?$/}, ({path, importer}) =>
        importer.includes('/@opentelemetry/') ? {path: `node:${path}`, external: true} : undefined,
      );
      build.onLoad({filter: /\/machine-id\/getMachineId\.js$/}, () => ({
        contents: 'export const getMachineId = async () => undefined;',
      }));
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
