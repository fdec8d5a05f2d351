import type {Secret} from '../../api/v1-objects.js';
import type {ApiObjects} from '../container/api-objects.js';

/** The same objects for what is shown: in place of a Secret's value stands where it comes from. */
export function withoutSecrets(objects: ApiObjects): ApiObjects {
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
