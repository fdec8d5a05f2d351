import {Readable} from 'node:stream';
import type {CtrClient} from '../containerd/ctr-client.js';
import {PAUSE_IMAGE} from '../containerd/containerd-config.js';
import {toOciArchitecture, buildOciArchive} from './oci-image.js';
import {isPauseArchitecture, pauseProgram, type PauseArchitecture} from './pause-program.js';

/**
 * Ensures that the sandbox image exists, without a network: an image that was pulled or loaded stays, otherwise it is
 * built. On an architecture without a pause program, containerd pulls the image for the first pod.
 */
export async function ensurePauseImage(client: CtrClient, signal: AbortSignal): Promise<void> {
  if ((await client.listImageNames(signal)).includes(PAUSE_IMAGE)) return;
  if (!isPauseArchitecture(process.arch)) return;
  await client.importArchive(Readable.from([pauseArchive(process.arch)]), signal);
  // The kubelet's image garbage collection skips pinned images (CRI: Image.pinned).
  await client.labelImage(PAUSE_IMAGE, 'io.cri-containerd.pinned=pinned', signal);
}

function pauseArchive(architecture: PauseArchitecture): Uint8Array {
  return buildOciArchive({
    names: [PAUSE_IMAGE],
    architecture: toOciArchitecture(architecture),
    files: [{type: 'file', path: 'pause', mode: 0o755, data: pauseProgram(architecture)}],
    entrypoint: ['/pause'],
    env: ['PATH=/'],
    user: '65535:65535',
  });
}
