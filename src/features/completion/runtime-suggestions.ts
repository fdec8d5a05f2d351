import type {Connection, Container} from '../../cri/index.js';
import {truncateId} from '../../format/truncate-id.js';
import {escapeToLine} from '../../format/escape-controls.js';
import {podNameOf, podNamespaceOf} from '../../operations/pods/pod-labels.js';
import type {RuntimeObjectKind, Suggestion} from './suggest.js';

/** Pattern of words that shells do not interpret and that kcri reads as an argument. */
const PLAIN_WORD = /^\w[\w.:/@-]*$/;

/**
 * Lists names and IDs of runtime objects with their descriptions. Omits words that are not plain, because a shell
 * inserts them into the command line unquoted. Rejects with CriError.
 */
export async function listRuntimeSuggestions(
  kind: RuntimeObjectKind,
  connection: Connection,
  signal: AbortSignal,
): Promise<readonly Suggestion[]> {
  const found = await listSuggestions(kind, connection, signal);
  return found
    .filter(({word}) => PLAIN_WORD.test(word))
    .map(({word, description, longForms = []}) => ({
      word,
      description: escapeToLine(description),
      longForms: longForms.filter((form) => PLAIN_WORD.test(form)),
    }));
}

interface RuntimeSuggestion {
  readonly word: string;
  readonly description: string;
  readonly longForms?: readonly string[];
}

async function listSuggestions(
  kind: RuntimeObjectKind,
  {runtime, images}: Connection,
  signal: AbortSignal,
): Promise<readonly RuntimeSuggestion[]> {
  switch (kind) {
    case 'pods':
    case 'pod names': {
      const {items} = await runtime.listPodSandbox({}, {signal});
      return items.flatMap(({id, metadata, state}) => [
        {
          word: metadata?.name ?? '',
          description: `pod in ${metadata?.namespace ?? ''}, ${stateText(state)}`,
          longForms: [`${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`],
        },
        ...(kind === 'pods'
          ? [{word: truncateId(id), description: `pod ${metadata?.name ?? ''}, ${stateText(state)}`}]
          : []),
      ]);
    }
    case 'images': {
      const {images: list} = await images.listImages({}, {signal});
      return list.flatMap(({id, repoTags}) => [
        ...repoTags.map((word) => ({word, description: 'image'})),
        {word: truncateId(id), description: `image ${repoTags[0] ?? ''}`.trimEnd()},
      ]);
    }
    case 'container names': {
      const {containers} = await runtime.listContainers({}, {signal});
      const names = new Set(containers.map(({metadata}) => metadata?.name ?? ''));
      return [...names].map((word) => ({word, description: 'container'}));
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

function containerSuggestions(container: Container, word: string): readonly RuntimeSuggestion[] {
  const {id, metadata, state} = container;
  const pod = podNameOf(container);
  const name = metadata?.name ?? '';
  const where = pod === undefined ? '' : ` of pod ${pod}`;
  return [
    {
      word,
      description: `container${where}, ${stateText(state)}`,
      longForms: [`${pod ?? ''}/${name}`, `${podNamespaceOf(container) ?? ''}/${pod ?? ''}/${name}`],
    },
    {word: truncateId(id), description: `container ${metadata?.name ?? ''}${where}, ${stateText(state)}`},
  ];
}

/** Returns the shortest unambiguous name of each container: NAME, POD/NAME or NAMESPACE/POD/NAME. */
function shortestNames(containers: readonly Container[]): readonly string[] {
  const forms = containers.map((container) => {
    const name = container.metadata?.name ?? '';
    const [pod, namespace] = [podNameOf(container), podNamespaceOf(container)];
    const long = pod === undefined || namespace === undefined ? name : `${namespace}/${pod}/${name}`;
    return {long, all: [name, ...(pod === undefined ? [] : [`${pod}/${name}`]), long]};
  });
  const containersByForm = new Map<string, Set<string>>();
  for (const {long, all} of forms)
    for (const form of all) containersByForm.set(form, (containersByForm.get(form) ?? new Set()).add(long));
  return forms.map(({long, all}) => all.find((form) => containersByForm.get(form)?.size === 1) ?? long);
}

function stateText(state: string): string {
  return state.replace(/^(CONTAINER|SANDBOX)_/, '').toLowerCase();
}
