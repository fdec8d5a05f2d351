import {isAbsolute} from 'node:path';
import {UsageError} from '../../base/errors.js';
import type {Init, LinuxContainerSecurityContext, SecurityProfile} from '../../cri/index.js';

/** Part of a security context that docker's `--security-opt` sets. */
export type SecurityOptions = Pick<
  Init<LinuxContainerSecurityContext>,
  'noNewPrivs' | 'seccomp' | 'apparmor'
>;

/**
 * Parses docker's `--security-opt`: no-new-privileges, seccomp=unconfined, seccomp=FILE of the node, apparmor=unconfined
 * and apparmor=PROFILE. Throws UsageError.
 */
export function parseSecurityOptions(texts: readonly string[]): SecurityOptions {
  return Object.assign({}, ...texts.map(parseSecurityOption)) as SecurityOptions;
}

function parseSecurityOption(text: string): SecurityOptions {
  const [, name = '', value = ''] = /^([^=:]*)(?:[=:](.*))?$/s.exec(text) ?? [];
  if (name === 'no-new-privileges' && /^(|true|false)$/.test(value)) return {noNewPrivs: value !== 'false'};
  if (name === 'seccomp' && (value === 'unconfined' || value === 'builtin' || isAbsolute(value)))
    return {seccomp: profileOf(value)};
  if (name === 'apparmor' && value !== '') return {apparmor: profileOf(value)};
  throw new UsageError(`invalid --security-opt "${text}"`, {
    hint: 'use no-new-privileges, seccomp=unconfined, seccomp=/FILE, apparmor=unconfined or apparmor=PROFILE',
  });
}

function profileOf(value: string): Init<SecurityProfile> {
  if (value === 'unconfined') return {profileType: 'Unconfined'};
  if (value === 'builtin') return {profileType: 'RuntimeDefault'};
  return {profileType: 'Localhost', localhostRef: value};
}
