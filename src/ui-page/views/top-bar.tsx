import type {JSX} from 'preact';
import {useState} from 'preact/hooks';
import {nameText} from '../model/format.js';
import type {LiveModel} from '../model/live-model.js';
import type {Route} from '../model/route.js';
import type {LinkState} from '../net/live-link.js';
import {currentTheme, setTheme, THEMES} from '../net/theme.js';

/** Bar with the place, the state of the connection, colors and help. */
export function TopBar({
  route,
  model,
  link,
  version,
  onHelp,
}: {
  readonly route: Route;
  readonly model: LiveModel | undefined;
  readonly link: LinkState;
  readonly version: string;
  readonly onHelp: () => void;
}): JSX.Element {
  const place = placeName(route, model);
  return (
    <header class="top-bar">
      <nav aria-label="Place">
        <a href="#/" class="brand" title={`kcri ${version}`}>
          kcri
        </a>
        <ol>
          <li>
            <a href="#/" aria-current={place === undefined ? 'page' : undefined}>
              Pods
            </a>
          </li>
          {place !== undefined && (
            <li>
              <span class="place" aria-current="page" title={place}>
                {place}
              </span>
            </li>
          )}
        </ol>
      </nav>
      <LinkText link={link} />
      <ThemeButton />
      <button
        type="button"
        class="quiet"
        onClick={onHelp}
        aria-label="Keys and help"
        title="Keys and help (?)"
      >
        ?
      </button>
    </header>
  );
}

function placeName(route: Route, model: LiveModel | undefined): string | undefined {
  if (route.view === 'pods') return undefined;
  if (route.view === 'node') return nameText(model?.nodes.get(route.key)?.name ?? 'node');
  const pod = model?.pods.get(route.key);
  return pod === undefined ? 'pod' : nameText(`${pod.namespace}/${pod.name}`);
}

function LinkText({link: {kind}}: {readonly link: LinkState}): JSX.Element {
  const [text, tone] =
    kind === 'connected'
      ? ['Live', 'good']
      : kind === 'waiting'
        ? ['Reconnecting', 'bad']
        : ['Connecting', 'busy'];
  return (
    <span class={`link-state state ${tone}`} role="status">
      <span class="mark" aria-hidden="true" />
      {text}
    </span>
  );
}

const GLYPHS = {system: '◐', light: '☀', dark: '☾'} as const;

function ThemeButton(): JSX.Element {
  const [theme, setShown] = useState(currentTheme);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Colors: ${theme}. Change to ${next}`}
      title={`Colors: ${theme}`}
      onClick={() => {
        setTheme(next);
        setShown(next);
      }}
    >
      {GLYPHS[theme]}
    </button>
  );
}
