import {Readable} from 'node:stream';
import type {ContainerdClient} from './ctr.js';
import {PAUSE_IMAGE} from './containerd-config.js';
import {ociArchitecture, ociArchive} from './oci-image.js';
import {isPauseArchitecture, pauseProgram, type PauseArchitecture} from './pause-program.js';

/**
 * Makes sure that the sandbox image is there, without a network: one that was pulled or loaded is kept, else
 * it is made on the spot. On a processor that kcri has no program for, containerd pulls it at the first pod.
 */
export async function ensurePauseImage(client: ContainerdClient, signal: AbortSignal): Promise<void> {
  if ((await client.imageNames(signal)).includes(PAUSE_IMAGE)) return;
  if (!isPauseArchitecture(process.arch)) return;
  await client.importArchive(Readable.from([pauseArchive(process.arch)]), signal);
  // What the kubelet's image garbage collection leaves alone (CRI: Image.pinned).
  await client.labelImage(PAUSE_IMAGE, 'io.cri-containerd.pinned=pinned', signal);
}

function pauseArchive(architecture: PauseArchitecture): Uint8Array {
  return ociArchive({
    names: [PAUSE_IMAGE],
    architecture: ociArchitecture(architecture),
    files: [{type: 'file', path: 'pause', mode: 0o755, data: pauseProgram(architecture)}],
    entrypoint: ['/pause'],
    env: ['PATH=/'],
    user: '65535:65535',
  });
}
