import {decodeWithSchema} from '../../../api/json/decode-api-object.js';
import {deviceClaim} from '../../../api/types/v1-resource-claims.js';
import type {ResourceApi} from '../../contract/cluster/resource-api.js';
import {deleteResourceSlices, type ResourceSliceOptions} from './resource-slices.js';

/** Returns the objects of resource.k8s.io in an API server. */
export function createResourceApi(options: Omit<ResourceSliceOptions, 'driver'>): ResourceApi {
  return {
    claim: async (namespace, name, signal) => {
      const path = `/apis/resource.k8s.io/v1/namespaces/${namespace}/resourceclaims/${name}`;
      return decodeWithSchema(deviceClaim, await options.client.request({method: 'GET', path}, signal));
    },
    deleteSlices: async (driver, signal) => {
      await deleteResourceSlices({...options, driver}, signal);
    },
  };
}
