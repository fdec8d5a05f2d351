import type {JSX} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import {nameText} from '../model/format.js';
import {ContainerChoice} from './container-choice.js';
import {allowHint, isAllowed, usePage} from './page-context.js';
import type {TabProps} from './tab-props.js';

/** Terminal with a shell in a container. */
export function ShellTab({pod, container, onContainer}: TabProps): JSX.Element {
  const page = usePage();
  const running = pod.containers.find(({state}) => state === 'Running') ?? pod.containers[0];
  const name = container ?? running?.name;
  const [attempt, setAttempt] = useState(0);
  const [end, setEnd] = useState<string>();
  const restart = (): void => {
    setEnd(undefined);
    setAttempt(attempt + 1);
  };
  if (!isAllowed(page, 'exec')) return <p class="muted">{allowHint('exec')} to open shells in containers.</p>;
  const key = pod.containers.find((each) => each.name === name)?.key;
  if (key === undefined) return <p class="muted">The pod has no container of this name.</p>;
  return (
    <>
      <div class="tool-bar">
        <ContainerChoice pod={pod} container={name} onContainer={onContainer} />
        {end !== undefined && (
          <>
            <span role="status">{nameText(end)}</span>
            <button type="button" onClick={restart}>
              Open again
            </button>
          </>
        )}
      </div>
      <TerminalBox key={`${key} ${attempt}`} containerKey={key} onEnd={setEnd} />
    </>
  );
}

function TerminalBox({
  containerKey,
  onEnd,
}: {
  readonly containerKey: string;
  readonly onEnd: (text: string) => void;
}): JSX.Element {
  const {api} = usePage();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const controller = new AbortController();
    const open = async (): Promise<void> => {
      const {openTerminal} = await import('../chunks/terminal.js');
      if (controller.signal.aborted || box.current === null) return;
      openTerminal(box.current, {
        open: (size) => api.exec(containerKey, size),
        onEnd,
        signal: controller.signal,
      });
    };
    open().catch((error: unknown) => onEnd(String(error)));
    return () => controller.abort();
  }, []);
  return <div ref={box} class="terminal-box" />;
}
