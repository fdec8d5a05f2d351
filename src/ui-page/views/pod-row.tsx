import {Component, type JSX} from 'preact';
import {shown, titleOf, type TableRow} from '../model/arrange.js';
import {ageText, nameText, percentText, sizeText} from '../model/format.js';
import {formatRoute} from '../model/route.js';
import type {Resource} from '../model/usage-history.js';
import {usePage} from './page-context.js';
import {Sparkline, StateText} from './small-parts.js';

/** Properties of a row of the table. */
export interface PodRowProps {
  readonly row: TableRow;
  /** Index among all rows. */
  readonly index: number;
  readonly isSelected: boolean;
  readonly hasNodes: boolean;
  readonly nowMs: number;
  readonly onSelect: (key: string) => void;
  readonly onExpand: (podKey: string, isOpen: boolean) => void;
}

/**
 * Row of a pod or a container, which neither scrolling nor a sample renders again that has not changed it. Its charts move by
 * themselves.
 */
export class PodRow extends Component<PodRowProps> {
  override shouldComponentUpdate({row, index, isSelected, nowMs, hasNodes}: PodRowProps): boolean {
    const before = this.props;
    return (
      row !== before.row ||
      index !== before.index ||
      isSelected !== before.isSelected ||
      hasNodes !== before.hasNodes ||
      (nowMs !== before.nowMs &&
        ageText(shown(row).startedMs, nowMs) !== ageText(shown(row).startedMs, before.nowMs))
    );
  }

  override render(props: PodRowProps): JSX.Element {
    return <Cells {...props} />;
  }
}

function Cells({row, index, isSelected, hasNodes, nowMs, onSelect, onExpand}: PodRowProps): JSX.Element {
  const {pod, container} = row;
  const item = shown(row);
  return (
    <tr
      aria-rowindex={index + 2}
      aria-level={container === undefined ? 1 : 2}
      aria-expanded={container === undefined ? row.isOpen : undefined}
      aria-selected={isSelected}
      class={pod.isStale === true ? 'stale' : ''}
      onClick={() => onSelect(row.key)}
    >
      <NameCell row={row} nowMs={nowMs} onExpand={onExpand} />
      <td class="ready">{item.ready}</td>
      <td class="state">
        <StateText row={item} />
      </td>
      <td class={item.restarts > 0 ? 'restarts number busy' : 'restarts number'}>{item.restarts}</td>
      <td class="cpu number">
        <RowChart rowKey={row.key} resource="cpu" />
        <span class="value">{percentText(item.cpuPercent)}</span>
      </td>
      <td class="memory number">
        <RowChart rowKey={row.key} resource="memory" />
        <span class="value">{sizeText(item.memoryBytes)}</span>
      </td>
      <td class="age number">{ageText(item.startedMs, nowMs)}</td>
      <td class="manager">{container === undefined ? pod.manager : ''}</td>
      {hasNodes && <td class="node">{container === undefined ? nameText(pod.node) : ''}</td>}
      <WhyCell row={row} />
    </tr>
  );
}

/** Chart of the recent usage of a row, which each sample moves. */
function RowChart({rowKey, resource}: {readonly rowKey: string; readonly resource: Resource}): JSX.Element {
  const {history} = usePage();
  return <Sparkline numbers={history.last(rowKey, resource, 60)} />;
}

function NameCell({
  row,
  nowMs,
  onExpand,
}: {
  readonly row: TableRow;
  readonly nowMs: number;
  readonly onExpand: (podKey: string, isOpen: boolean) => void;
}): JSX.Element {
  const {pod, container, isOpen} = row;
  const item = shown(row);
  const title = nameText(titleOf(row));
  const href = formatRoute({
    view: 'pod',
    key: pod.key,
    ...(container === undefined ? {tab: 'status'} : {tab: 'logs', container: container.name}),
  });
  return (
    <td class={container === undefined ? 'name' : 'name branch'}>
      {isOpen !== undefined && (
        <button
          type="button"
          class="expander"
          tabIndex={-1}
          aria-label={`${isOpen ? 'Hide' : 'Show'} containers of ${title}`}
          onClick={() => onExpand(pod.key, !isOpen)}
        >
          {isOpen ? '▾' : '▸'}
        </button>
      )}
      <a href={href} title={title}>
        {container === undefined ? (
          <>
            <span class="muted namespace">{nameText(pod.namespace)}/</span>
            {nameText(pod.name)}
          </>
        ) : (
          <ContainerName row={row} />
        )}
      </a>
      <span class="second-line">
        <StateText row={item} />
        <span>
          {[
            ...(container === undefined ? [nameText(pod.namespace)] : []),
            ageText(item.startedMs, nowMs),
          ].join(' · ')}
        </span>
      </span>
    </td>
  );
}

/** Name of a container; CSS hides the pod in the tree. */
function ContainerName({row: {pod, container}}: {readonly row: TableRow}): JSX.Element {
  return (
    <>
      <span class="muted of-pod">{nameText(`${pod.namespace}/${pod.name}`)}/</span>
      {nameText(container?.name ?? '')}
    </>
  );
}

function WhyCell({row: {pod, container}}: {readonly row: TableRow}): JSX.Element {
  const cpus = container?.exclusiveCpus ?? '';
  const text =
    container === undefined ? (pod.why ?? '') : cpus === '' ? (container.probes ?? '') : `CPUs ${cpus}`;
  return (
    <td class="why" title={nameText(text)}>
      {nameText(text)}
    </td>
  );
}
