import {aborted} from '../../base/async/aborted.js';
import type {CommandContext} from '../../cli/command/contexts.js';
import {stopReadingOnAbort} from '../../cli/terminal/terminal-input.js';
import {programVersion} from '../../cli/process/program-version.js';
import {escapeControls} from '../../format/escape-controls.js';
import {parseLabelSelector} from '../pods/label-selector.js';
import {parsePodManager} from '../pods/pod-selection-flags.js';
import {TopNodes} from '../top/metrics/top-nodes.js';
import {LiveFeed} from './live/live-feed.js';
import {UiSampler} from './live/ui-sampler.js';
import {changeRoutes} from './routes/change-routes.js';
import {execRoute} from './routes/exec-route.js';
import {liveRoute} from './routes/live-route.js';
import {logsRoute} from './routes/logs-route.js';
import {nodeRoutes} from './routes/node-routes.js';
import {podRoute} from './routes/pod-route.js';
import {sessionRoute} from './routes/session-route.js';
import {Page} from './server/page.js';
import {Sessions} from './server/sessions.js';
import type {UiRoute} from './server/ui-request.js';
import {parseUiFlags, type UiFlagValues, type UiOptions} from './ui-flags.js';
import {startUiServer} from './ui-server.js';

/**
 * Serves the page until Ctrl-C. Prints a link with a one-time token, and another one for each Enter on a terminal. Rejects with
 * KcriError if it cannot start.
 */
export async function runUi(
  services: CommandContext,
  words: readonly string[],
  flags: UiFlagValues,
): Promise<void> {
  const options = parseUiFlags(flags);
  parseLabelSelector(flags.selector ?? '');
  parsePodManager(flags.manager);
  const nodes = await TopNodes.open(services, {
    words,
    flags,
    pauseMs: options.pauseMs,
    omitsEvents: true,
  });
  const sessions = new Sessions(services.context.clock);
  const {context, report, secrets, signal} = services;
  const safe = (text: string): string => escapeControls(secrets.mask(text));
  const page = new Page(async () => await (await import('./page-files.js')).readPageFiles());
  const server = await startUiServer({
    ...options,
    sessions,
    safe,
    routes: createRoutes(services, {safe, nodes, sessions, options}),
    findFile: async (name) => await page.find(name),
    clock: context.clock,
    signal,
    onBug: report.fail,
  });
  try {
    printLinks(services, {url: server.url, sessions, options});
    await aborted(signal);
  } finally {
    await server.close();
  }
}

interface RouteSources {
  readonly safe: (text: string) => string;
  readonly nodes: TopNodes;
  readonly sessions: Sessions;
  readonly options: UiOptions;
}

function createRoutes(
  services: CommandContext,
  {safe, nodes, sessions, options: {pauseMs, allowed}}: RouteSources,
): readonly UiRoute[] {
  const {context, report, signal} = services;
  const sampler = new UiSampler(services, nodes);
  const feed = new LiveFeed({sampler, clock: context.clock, pauseMs, signal, processorMs});
  const changes = {feed, allowed, report: report.info};
  return [
    sessionRoute(sessions, {version: programVersion(), allowed}),
    liveRoute(feed, sampler),
    podRoute(feed),
    logsRoute(feed, safe),
    ...nodeRoutes(feed),
    ...changeRoutes(changes),
    execRoute({...changes, safe, clock: context.clock}),
  ];
}

/** Returns the processor time that this process used, in ms. */
function processorMs(): number {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1000;
}

interface LinkOptions {
  readonly url: string;
  readonly sessions: Sessions;
  readonly options: UiOptions;
}

/** Prints a link, and another one for each line that is entered on a terminal. */
function printLinks(
  {context: {stdin}, out, report, signal}: CommandContext,
  {url, sessions, options: {allowed}}: LinkOptions,
): void {
  const print = (): void => {
    out.stdout.write(`${url}#token=${sessions.createToken()}\n`);
  };
  print();
  const {port} = new URL(url);
  const isTerminal = stdin.isTTY === true;
  report.info(
    `kcri: the page ${allowed.length === 0 ? 'is read-only' : `allows ${allowed.join(', ')}`}; the link works once, for 15 minutes` +
      `${isTerminal ? '; press Enter for another one' : ''}. Ctrl-C ends kcri ui`,
  );
  report.info(`hint: from another machine, forward the port: ssh -L ${port}:127.0.0.1:${port} HOST`);
  if (!isTerminal) return;
  stopReadingOnAbort(stdin, signal);
  stdin.on('data', (data: Buffer | string) => {
    const lines = data.toString().split('\n').length - 1;
    for (let line = 0; line < lines; line += 1) print();
  });
}
