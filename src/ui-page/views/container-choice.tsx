import type {JSX} from 'preact';
import type {UiPod} from '../../features/ui/protocol.js';
import {nameText} from '../model/format.js';

/** Selection of a container of a pod. */
export function ContainerChoice({
  pod,
  container,
  onContainer,
  hasAll = false,
}: {
  readonly pod: UiPod;
  readonly container: string | undefined;
  readonly onContainer: (name: string | undefined) => void;
  /** True to offer all containers together. */
  readonly hasAll?: boolean;
}): JSX.Element {
  return (
    <label class="choice-label">
      <span>Container</span>
      <select
        value={container ?? ''}
        onChange={({currentTarget: {value}}) => onContainer(value === '' ? undefined : value)}
      >
        {hasAll && <option value="">All</option>}
        {pod.containers.map(({key, name}) => (
          <option key={key} value={name}>
            {nameText(name)}
          </option>
        ))}
      </select>
    </label>
  );
}
