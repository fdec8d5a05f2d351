import type {Pod} from '../../api/types/v1-pod.js';
import type {Grant} from '../contract/node-manager.js';
import type {CriCall} from '../contract/observation/observe-cri-calls.js';
import type {ExplainedFacts} from '../managers/kuberuntime/provenance/scope.js';
import {explainCall, type PlannedReason, type PlanStep} from './explain-call.js';

/** Call that a sync would make. */
export interface PlannedCall extends Pick<CriCall, 'method' | 'requestType' | 'request'> {
  /** Name of the container that the call concerns. */
  readonly container: string | undefined;
  readonly why: PlannedReason;
  /** Facts from which its fields were made. */
  readonly facts: ExplainedFacts;
}

/** Records the calls of a plan, each with its reason in the current step. */
export class CallRecorder {
  readonly calls: PlannedCall[] = [];
  readonly #names = new Map<string, string>();
  readonly #facts: Omit<ExplainedFacts, 'pod' | 'granted'>;
  step: PlanStep = {kind: 'termination', text: ''};
  /** Pod that the current step is about. */
  pod: Pod;
  /** Returns what the managers of the node give a container. */
  explain: (container: string) => readonly Grant[] = () => [];

  constructor(pod: Pod, {node, objects}: Omit<ExplainedFacts, 'pod' | 'granted'>) {
    this.pod = pod;
    this.#facts = {node, objects};
  }

  /** Adds the names of existing containers. */
  addContainers(containers: readonly {readonly id: string; readonly name: string}[]): void {
    for (const {id, name} of containers) this.#names.set(id, name);
  }

  /**
   * Records a call. As a CallListener, it is called at the start and at the end of each call; the response to
   * CreateContainer identifies the planned container.
   */
  readonly onCall = (call: Pick<CriCall, 'method' | 'requestType' | 'request'>, ended?: CriCall): void => {
    const container = this.#containerOf(call);
    if (ended === undefined) this.#record(call, container);
    else if (call.method === 'CreateContainer' && container !== undefined)
      this.#names.set(String(ended.response?.['containerId']), container);
  };

  #record(call: Pick<CriCall, 'method' | 'requestType' | 'request'>, container: string | undefined): void {
    const why = explainCall(call, this.step, container);
    const granted = container === undefined ? [] : this.explain(container);
    const isCreated = call.method === 'CreateContainer' && container !== undefined;
    this.calls.push({
      ...call,
      container,
      why: isCreated ? {...why, text: [why.text, ...granted.map(({text}) => text)].join('; ')} : why,
      facts: {...this.#facts, pod: this.pod, granted},
    });
  }

  #containerOf({method, request}: Pick<CriCall, 'method' | 'request'>): string | undefined {
    if (method !== 'CreateContainer') return this.#names.get(String(request['containerId']));
    const {metadata} = request['config'] as {readonly metadata?: {readonly name?: string}};
    return metadata?.name;
  }
}
