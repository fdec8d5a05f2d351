import {normalizeSysctlName, sysctlNamespace, type SysctlNamespace} from '../../api/sysctl.js';
import {ConfigError} from '../../base/errors.js';
import {goQuote} from '../../format/go-quote.js';

const LONGEST_SYSCTL = 253;
const SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const PATTERN = `^(${SEGMENT}[\\./])*${SEGMENT}$`;
const WILD_PATTERN = `^((${SEGMENT}[\\./])*(${SEGMENT})?)?\\*$`;

/** A pattern of sysctls that pods may set. */
export interface AllowedSysctl {
  /** Name with dots; a prefix when `wild`. */
  readonly name: string;
  readonly wild: boolean;
  readonly namespace: SysctlNamespace;
}

/** Parses a pattern of --allowed-unsafe-sysctls (sysctl.NewAllowlist). Throws ConfigError for an invalid one. */
export function parseAllowedSysctl(pattern: string): AllowedSysctl {
  const wild = pattern.endsWith('*');
  if (pattern.length > LONGEST_SYSCTL || !new RegExp(wild ? WILD_PATTERN : PATTERN).test(pattern))
    throw new ConfigError(
      `sysctl ${goQuote(pattern)} must have at most ${LONGEST_SYSCTL} characters and match regex ${PATTERN}`,
      {hint: 'change --allowed-unsafe-sysctls'},
    );
  const name = normalizeSysctlName(wild ? pattern.slice(0, -1) : pattern);
  const namespace = sysctlNamespace(name);
  if (namespace === undefined)
    throw new ConfigError(`the sysctl${wild ? 's' : ''} ${goQuote(pattern)} are not known to be namespaced`, {
      hint: 'set --allowed-unsafe-sysctls to network and IPC sysctls only',
    });
  return {name, wild, namespace};
}

/** Returns the patterns. Throws ConfigError if one of them is invalid, so that a kubelet with it does not start. */
export function validatedSysctls(patterns: readonly string[]): readonly string[] {
  for (const pattern of patterns) parseAllowedSysctl(pattern);
  return patterns;
}
