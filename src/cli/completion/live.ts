import type {Connection, Container} from '../../cri/index.js';
import {truncateId} from '../../format/id.js';
import {visibleInLine} from '../../format/visible.js';
import {podNameOf, podNamespaceOf} from '../../operations/pod-labels.js';
import type {LiveKind, Suggestion} from './suggest.js';

/** What a shell takes for a word, and for nothing else, and kcri for an argument. */
const PLAIN_WORD = /^\w[\w.:/@-]*$/;

/**
 * The words for what runs on a runtime: names and ids, with what they stand for. What is no plain word is left out:
 * a shell puts it into the command line as it is.
 */
export async function liveSuggestions(
  kind: LiveKind,
  connection: Connection,
  signal: AbortSignal,
): Promise<readonly Suggestion[]> {
  const found = await listed(kind, connection, signal);
  return found
    .filter(({word}) => PLAIN_WORD.test(word))
    .map(({word, meaning}) => ({word, meaning: visibleInLine(meaning)}));
}

interface LiveWord {
  readonly word: string;
  readonly meaning: string;
}

async function listed(
  kind: LiveKind,
  {runtime, images}: Connection,
  signal: AbortSignal,
): Promise<readonly LiveWord[]> {
  switch (kind) {
    case 'pods':
    case 'pod names': {
      const {items} = await runtime.listPodSandbox({}, {signal});
      return items.flatMap(({id, metadata, state}) => [
        {word: metadata?.name ?? '', meaning: `pod in ${metadata?.namespace ?? ''}, ${stateText(state)}`},
        ...(kind === 'pods'
          ? [{word: truncateId(id), meaning: `pod ${metadata?.name ?? ''}, ${stateText(state)}`}]
          : []),
      ]);
    }
    case 'images': {
      const {images: list} = await images.listImages({}, {signal});
      return list.flatMap(({id, repoTags}) => [
        ...repoTags.map((word) => ({word, meaning: 'image'})),
        {word: truncateId(id), meaning: `image ${repoTags[0] ?? ''}`.trimEnd()},
      ]);
    }
    case 'containers':
    case 'created':
    case 'running': {
      const {containers} = await runtime.listContainers(STATES[kind], {signal});
      const names = shortestNames(containers);
      return containers.flatMap((container, index) => containerSuggestions(container, names[index] ?? ''));
    }
  }
}

const STATES = {
  containers: {},
  created: {filter: {state: {state: 'CONTAINER_CREATED'}}},
  running: {filter: {state: {state: 'CONTAINER_RUNNING'}}},
} as const;

function containerSuggestions(container: Container, word: string): readonly LiveWord[] {
  const {id, metadata, state} = container;
  const pod = podNameOf(container);
  const where = pod === undefined ? '' : ` of pod ${pod}`;
  return [
    {word, meaning: `container${where}, ${stateText(state)}`},
    {word: truncateId(id), meaning: `container ${metadata?.name ?? ''}${where}, ${stateText(state)}`},
  ];
}

/** What each container can be called: its name, behind its pod's and its namespace's where another has the same. */
function shortestNames(containers: readonly Container[]): readonly string[] {
  const forms = containers.map((container) => {
    const name = container.metadata?.name ?? '';
    const [pod, namespace] = [podNameOf(container), podNamespaceOf(container)];
    const long = pod === undefined || namespace === undefined ? name : `${namespace}/${pod}/${name}`;
    return {long, all: [name, ...(pod === undefined ? [] : [`${pod}/${name}`]), long]};
  });
  const meant = new Map<string, Set<string>>();
  for (const {long, all} of forms)
    for (const form of all) meant.set(form, (meant.get(form) ?? new Set()).add(long));
  return forms.map(({long, all}) => all.find((form) => meant.get(form)?.size === 1) ?? long);
}

function stateText(state: string): string {
  return state.replace(/^(CONTAINER|SANDBOX)_/, '').toLowerCase();
}
