import {UsageError} from '../../base/errors.js';
import type {Init, LinuxContainerSecurityContext} from '../../cri/index.js';

/**
 * Parses `USER[:GROUP]`: a UID or a name of the image's /etc/passwd, and a GID. CRI cannot look up the names of groups.
 * Throws UsageError.
 */
export function parseUser(
  text: string,
): Pick<Init<LinuxContainerSecurityContext>, 'runAsUser' | 'runAsUsername' | 'runAsGroup'> {
  const [, user = '', group] = /^([^:]+)(?::(.*))?$/s.exec(text) ?? [];
  if (user === '') throw new UsageError(`invalid --user "${text}": must be USER or USER:GROUP`);
  if (group !== undefined && !isId(group))
    throw new UsageError(`invalid --user "${text}": the group must be a number`, {
      hint: "CRI cannot look up the names of groups; without a group, the container has the user's groups",
    });
  return {
    ...(isId(user) ? {runAsUser: {value: BigInt(user)}} : {runAsUsername: user}),
    ...(group !== undefined && {runAsGroup: {value: BigInt(group)}}),
  };
}

function isId(text: string): boolean {
  return /^\d{1,10}$/.test(text);
}
