import {createVolume} from '../../../src/kubelet/managers/volumes/csi/csi-controller-client.js';

export {freePorts} from '../../base/free-ports.js';
export {startControlPlane} from '../../cluster/control-plane.js';

/** Has the driver at a socket create a volume, and returns its ID. */
export async function createVolumeOf(socket: string, name: string): Promise<string> {
  const request = {
    ...{driver: '', name, limitBytes: 0n, fsType: '', parameters: {}, mountOptions: []},
    ...{requiredBytes: 1n << 20n, accessModes: ['ReadWriteOnce'] as const},
  };
  return (await createVolume(socket, request, {}, new AbortController().signal)).handle;
}
