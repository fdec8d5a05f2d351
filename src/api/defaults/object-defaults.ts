import {isClusterScoped, type ApiObject, type Secret} from '../types/v1-objects.js';

/** Returns the object with the API server's defaults: namespace `default`, type and stringData of a Secret. */
export function applyObjectDefaults(object: ApiObject): ApiObject {
  if (isClusterScoped(object)) return object;
  const {namespace = ''} = object.metadata;
  const metadata = {...object.metadata, namespace: namespace === '' ? 'default' : namespace};
  return object.kind === 'Secret' ? {...secretWithData(object), metadata} : {...object, metadata};
}

function secretWithData({stringData = {}, ...secret}: Secret): Secret {
  const texts = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value)] as const);
  return {
    ...secret,
    data: {...secret.data, ...Object.fromEntries(texts)},
    type: secret.type === undefined || secret.type === '' ? 'Opaque' : secret.type,
  };
}
