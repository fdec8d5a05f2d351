import type {JSX} from 'preact';
import type {UiSocket} from '../../features/ui/protocol.js';
import {nameText, sizeText} from '../model/format.js';

type NumaNode = UiSocket['numaNodes'][number];
type Cpu = NumaNode['cores'][number]['cpus'][number];

/** Number of colors of owners in the style sheet. */
const COLORS = 6;

/** Picture of sockets, NUMA nodes, cores and CPUs, with the containers that own CPUs. */
export function TopologyView({sockets}: {readonly sockets: readonly UiSocket[]}): JSX.Element {
  const cpus = sockets.flatMap(({numaNodes}) =>
    numaNodes.flatMap(({cores}) => cores.flatMap((core) => core.cpus)),
  );
  const owners = [...new Set(cpus.filter(({isExclusive}) => isExclusive).map(({owner}) => owner))];
  const colorOf = ({owner, isExclusive}: Cpu): string =>
    isExclusive ? `cpu-box owner-${owners.indexOf(owner) % COLORS}` : 'cpu-box';
  return (
    <section aria-label="Sockets and CPUs">
      <h2>Sockets and CPUs</h2>
      <ul class="sockets">
        {sockets.map(({id, numaNodes}) => (
          <li key={id} class="card">
            <h3>Socket {id}</h3>
            <ul class="numa-nodes">
              {numaNodes.map((numa) => (
                <NumaView key={numa.id} numa={numa} colorOf={colorOf} />
              ))}
            </ul>
          </li>
        ))}
      </ul>
      <Legend cpus={cpus} owners={owners} colorOf={colorOf} />
    </section>
  );
}

function NumaView({
  numa,
  colorOf,
}: {
  readonly numa: NumaNode;
  readonly colorOf: (cpu: Cpu) => string;
}): JSX.Element {
  return (
    <li>
      <h4>
        NUMA node {numa.id}
        {numa.memoryBytes !== undefined && <span class="muted"> {sizeText(numa.memoryBytes)}</span>}
      </h4>
      <ul class="cores">
        {numa.cores.map(({id, cpus}) => (
          <li key={id} aria-label={`Core ${id}`}>
            {cpus.map((cpu) => (
              <span key={cpu.id} class={colorOf(cpu)} title={`CPU ${cpu.id}: ${nameText(cpu.owner)}`}>
                {cpu.id}
                <span class="hidden"> {nameText(cpu.owner)}</span>
              </span>
            ))}
          </li>
        ))}
      </ul>
    </li>
  );
}

function Legend({
  cpus,
  owners,
  colorOf,
}: {
  readonly cpus: readonly Cpu[];
  readonly owners: readonly string[];
  readonly colorOf: (cpu: Cpu) => string;
}): JSX.Element {
  const shared = cpus.filter(({isExclusive}) => !isExclusive);
  const names = [...owners, ...new Set(shared.map(({owner}) => owner))];
  return (
    <ul class="legend">
      {names.map((owner) => {
        const own = cpus.filter((cpu) => cpu.owner === owner);
        return (
          <li key={owner}>
            <span class={own[0] === undefined ? 'cpu-box' : colorOf(own[0])} aria-hidden="true" />
            {nameText(owner)} <span class="muted">{own.length === 1 ? '1 CPU' : `${own.length} CPUs`}</span>
          </li>
        );
      })}
    </ul>
  );
}
