import {SystemError} from '../../../../base/errors.js';
import type {ApiObjects} from '../../../contract/api-objects.js';
import type {CsiClaims, CsiCluster} from '../../../contract/volumes/csi-cluster.js';

/**
 * Returns what CSI volumes need of a cluster, from manifests: CSIDrivers and Secrets; and the claims whose volumes kcri has had created.
 * Nothing is attached to the node.
 */
export function createManifestCsi(objects: ApiObjects, claims: CsiClaims): CsiCluster {
  const missing = (what: string): SystemError =>
    new SystemError(`${what} without an API server`, {
      hint: 'start the kubelet with --kubeconfig, or use a driver that needs none',
    });
  return {
    attachesVolumes: false,
    attachesNothing: true,
    knowsDrivers: true,
    claims,
    driversKnown: async () => undefined,
    driver: (name) => objects.csiDriver?.(name)?.spec,
    secret: async ({namespace, name}) => {
      const secret = objects.secret(namespace, name);
      if (secret === undefined)
        throw new SystemError(`secrets "${name}" not found`, {
          hint: `add the Secret "${namespace}/${name}" to the manifests; "kcri delete" needs them too, to delete a volume`,
        });
      return {type: secret.type ?? '', data: secret.data ?? {}};
    },
    tokens: async () => {
      throw missing('no tokens are issued');
    },
    untilAttached: async () => {
      throw missing('no volume is attached');
    },
    publishContext: async () => {
      throw missing('no volume is attached');
    },
    installDriver: async () => undefined,
    uninstallDriver: async () => undefined,
  };
}
