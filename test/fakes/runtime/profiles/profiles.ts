import {CONTAINERD_1_6, CONTAINERD_1_7, CONTAINERD_2} from './containerd-profiles.js';
import {CRIO} from './crio-profile.js';
import {CRI_DOCKERD} from './cri-dockerd-profile.js';
import type {RuntimeProfile} from './runtime-profile.js';

/** The runtimes that the fake can imitate. */
export const PROFILES = {
  'containerd-1.6': CONTAINERD_1_6,
  'containerd-1.7': CONTAINERD_1_7,
  'containerd-2': CONTAINERD_2,
  'cri-o': CRIO,
  'cri-dockerd': CRI_DOCKERD,
} as const satisfies Readonly<Record<string, RuntimeProfile>>;

/** Name of a profile, as in `--profile`. */
export type ProfileName = keyof typeof PROFILES;

/** Reports whether this is the name of a profile. */
export function isProfileName(name: string): name is ProfileName {
  return Object.hasOwn(PROFILES, name);
}
