import {byKey} from '../../../../base/compare.js';
import {SystemError} from '../../../../base/errors.js';
import {goQuote} from '../../../../format/go-quote.js';
import type {CpuManagerSettings} from '../../../contract/resources/cpu-manager-settings.js';
import type {CpuTopology} from '../../../contract/resources/machine.js';
import {parsePolicyBoolean} from '../../../resources/policy-options.js';

/** Options of the static policy by name (StaticPolicyOptions), with their maturity. */
const OPTIONS = {
  'full-pcpus-only': 'stable',
  'strict-cpu-reservation': 'stable',
  'prefer-align-cpus-by-uncorecache': 'stable',
  'distribute-cpus-across-numa': 'beta',
  'align-by-socket': 'alpha',
  'distribute-cpus-across-cores': 'alpha',
} as const satisfies Record<string, 'stable' | 'beta' | 'alpha'>;

type OptionName = keyof typeof OPTIONS;

/** Options that are on. */
export type StaticOptions = ReadonlySet<OptionName>;

/** Options that exclude each other. */
const EXCLUSIVE: readonly (readonly [OptionName, OptionName])[] = [
  ['full-pcpus-only', 'distribute-cpus-across-cores'],
  ['distribute-cpus-across-numa', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
];

/**
 * Parses the options of the static policy, sorted by name: a kubelet reports any one of several wrong ones. Throws SystemError
 * with the kubelet's text (NewStaticPolicyOptions).
 */
export function parseStaticOptions(
  settings: Pick<CpuManagerSettings, 'options' | 'allowsAlphaOptions' | 'allowsBetaOptions'>,
): StaticOptions {
  const options = new Set<OptionName>();
  for (const [name, value] of Object.entries(settings.options).toSorted(byKey)) {
    const option = requireOption(name, settings);
    if (parsePolicyBoolean(name, value)) options.add(option);
  }
  const conflict = EXCLUSIVE.find((pair) => pair.every((name) => options.has(name)));
  if (conflict !== undefined)
    throw new SystemError(
      `static policy options ${conflict.join(' and ')} can not be used at the same time`,
      {
        hint: 'remove one of them from cpuManagerPolicyOptions',
      },
    );
  return options;
}

function requireOption(
  name: string,
  {
    allowsAlphaOptions,
    allowsBetaOptions,
  }: Pick<CpuManagerSettings, 'allowsAlphaOptions' | 'allowsBetaOptions'>,
): OptionName {
  if (!isOption(name))
    throw new SystemError(`unknown CPU Manager Policy option: ${goQuote(name)}`, {
      hint: `use one of ${Object.keys(OPTIONS).join(', ')} in cpuManagerPolicyOptions`,
    });
  const maturity = OPTIONS[name];
  if ((maturity === 'alpha' && !allowsAlphaOptions) || (maturity === 'beta' && !allowsBetaOptions)) {
    const level = maturity === 'alpha' ? 'Alpha' : 'Beta';
    throw new SystemError(
      `CPU Manager Policy ${level}-level Options not enabled, but option ${goQuote(name)} provided`,
      {hint: `set the feature gate CPUManagerPolicy${level}Options, or remove the option`},
    );
  }
  return name;
}

function isOption(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}

const REMOVE_ALIGN = 'remove the option align-by-socket from cpuManagerPolicyOptions';

/** Checks that the options fit the machine and the topology manager (ValidateStaticPolicyOptions). Throws SystemError. */
export function validateStaticOptions(
  options: StaticOptions,
  {socketCount, numaNodeCount}: Pick<CpuTopology, 'socketCount' | 'numaNodeCount'>,
  topologyPolicy: string,
): void {
  if (!options.has('align-by-socket')) return;
  if (topologyPolicy === 'single-numa-node')
    throw new SystemError(
      'Topolgy manager single-numa-node policy is incompatible with CPUManager align-by-socket policy option',
      {hint: REMOVE_ALIGN},
    );
  if (socketCount > numaNodeCount)
    throw new SystemError(
      'Align by socket is not compatible with hardware where number of sockets are more than number of NUMA',
      {hint: REMOVE_ALIGN},
    );
}
