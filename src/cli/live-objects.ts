import {messageOf} from '../base/errors.js';
import {apiObjects, secretTexts, type ApiObjects} from '../kubelet/index.js';
import {
  readManifests,
  type ManifestSource,
  type ReadManifests,
  type ReadManifestsOptions,
} from '../operations/read-manifests.js';

/** How manifests are followed. */
export interface LiveObjectsOptions extends ReadManifestsOptions {
  /** Called with what went wrong when they are read again, once for one problem. */
  warn(message: string): void;
  /** Called with the values of Secrets when they are read again. */
  hide(values: readonly string[]): void;
}

/**
 * The objects of manifests that have been read. A refresh reads the files again, but for standard input; while one of
 * them can't be read or is faulty, as a half written one is, all stays as it was.
 */
export function liveObjects(
  sources: readonly ManifestSource[],
  {objects, files}: Pick<ReadManifests, 'objects' | 'files'>,
  options: LiveObjectsOptions,
): ApiObjects {
  const paths = sources.filter((source) => typeof source === 'string' && source !== '-');
  const readOnce = new Set(sources.map((source) => (typeof source === 'string' ? 'stdin' : source.file)));
  const fixed = objects.filter(({file}) => readOnce.has(file));
  const from = (documents: ReadManifests['objects']): ApiObjects =>
    apiObjects(
      documents.map(({object}) => object),
      files,
    );
  let current = from(objects);
  let problem = '';
  return {
    sources: files,
    configMap: (namespace, name) => current.configMap(namespace, name),
    secret: (namespace, name) => current.secret(namespace, name),
    serviceAccount: (namespace, name) => current.serviceAccount(namespace, name),
    runtimeClass: (name) => current.runtimeClass(name),
    refresh: async () => {
      try {
        const fresh = await readManifests(paths, {...options, podless: true});
        options.hide(fresh.objects.flatMap(({object}) => secretTexts(object)));
        current = from([...fixed, ...fresh.objects]);
        problem = '';
      } catch (error) {
        options.signal.throwIfAborted();
        const message = messageOf(error);
        if (message !== problem) options.warn(`what pods refer to stays as it was: ${message}`);
        problem = message;
      }
    },
  };
}
