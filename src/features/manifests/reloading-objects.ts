import {messageOf} from '../../base/errors.js';
import {isHttpUrl} from '../../base/is-http-url.js';
import {createApiObjects, currentObjects, secretValuesOf, type ApiObjects} from '../../kubelet/index.js';
import {redactUrlText} from '../../format/redact-url.js';
import {
  readManifests,
  type ManifestSource,
  type ManifestSet,
  type ReadManifestsOptions,
} from '../../operations/manifests/read-manifests.js';

/** Options of manifests that are read repeatedly. */
export interface ReloadingObjectsOptions extends ReadManifestsOptions {
  /** Receives problems of later reads, each once. */
  warn(message: string): void;
  /** Receives the values of Secrets of later reads. */
  hide(values: readonly string[]): void;
}

/**
 * Returns objects of manifests that a refresh reads again, except those of standard input and URLs. If a file is unreadable or
 * invalid, such as a partially written one, all objects stay unchanged.
 */
export function createReloadingObjects(
  sources: readonly ManifestSource[],
  {objects, files}: Pick<ManifestSet, 'objects' | 'files'>,
  options: ReloadingObjectsOptions,
): ApiObjects {
  const paths = sources.filter(isPath);
  const readOnce = new Set(sources.filter((source) => !isPath(source)).map(originOf));
  const fixed = objects.filter(({origin}) => readOnce.has(origin));
  const from = (documents: ManifestSet['objects']): ApiObjects =>
    createApiObjects(
      documents.map(({object}) => object),
      files,
    );
  let current = from(objects);
  let problem = '';
  return {
    sources: files,
    ...currentObjects(() => current),
    refresh: async () => {
      try {
        const fresh = await readManifests(paths, {...options, allowNoPods: true});
        options.hide(fresh.objects.flatMap(({object}) => secretValuesOf(object)));
        current = from([...fixed, ...fresh.objects]);
        problem = '';
      } catch (error) {
        options.signal.throwIfAborted();
        const message = messageOf(error);
        if (message !== problem) options.warn(`keeping the ConfigMaps and Secrets read before: ${message}`);
        problem = message;
      }
    },
  };
}

function isPath(source: ManifestSource): source is string {
  return typeof source === 'string' && source !== '-' && !isHttpUrl(source);
}

/** Returns the origin of documents from a source that is read once. */
function originOf(source: ManifestSource): string {
  return typeof source === 'string' ? redactUrlText(source) : (source.origin ?? source.file);
}
