import type {Secret} from '../../../api/types/v1-objects.js';
import type {ApiObjects} from '../../contract/api-objects.js';

/** Returns the objects with the values of Secrets replaced by their key and name, for output. */
export function redactSecretObjects(objects: ApiObjects): ApiObjects {
  return {
    ...objects,
    secret: (namespace, name) => {
      const secret = objects.secret(namespace, name);
      return secret && withoutValues(secret, name);
    },
  };
}

function withoutValues({data = {}, ...secret}: Secret, name: string): Secret {
  const keys = Object.keys(data).map((key) => [key, Buffer.from(`<${key} of the Secret ${name}>`)] as const);
  return {...secret, data: Object.fromEntries(keys)};
}
