import type {ApiObject, Secret} from './v1-objects.js';

/** An object with what the API server would fill in: the namespace `default`, a Secret's type and its stringData. */
export function applyObjectDefaults(object: ApiObject): ApiObject {
  if (object.kind === 'RuntimeClass') return object;
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
