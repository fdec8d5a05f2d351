import {Component, type JSX} from 'preact';
import {findInLine, type LogText} from '../model/log-lines.js';

/** Lines of a log in blocks: only blocks that change are rendered again. */
export function LogLines({
  log: {lines, dropped, rest},
  search,
}: {
  readonly log: LogText;
  readonly search: string;
}): JSX.Element {
  const blocks = splitBlocks(lines, dropped);
  return (
    <>
      {blocks.map(({number, text}) => (
        <LogBlock key={number} text={text} search={search} />
      ))}
      {rest !== '' && <LogBlock text={rest} search={search} />}
    </>
  );
}

/** Number of lines of a block. */
const BLOCK = 100;

/** Splits lines into blocks whose limits stay the same when older lines are dropped. */
function splitBlocks(
  lines: readonly string[],
  dropped: number,
): readonly {readonly number: number; readonly text: string}[] {
  const first = Math.floor(dropped / BLOCK);
  const count = Math.ceil((dropped + lines.length) / BLOCK) - first;
  return Array.from({length: count}, (_, index) => {
    const start = (first + index) * BLOCK - dropped;
    return {number: first + index, text: lines.slice(Math.max(start, 0), start + BLOCK).join('\n')};
  });
}

interface BlockProps {
  readonly text: string;
  readonly search: string;
}

class LogBlock extends Component<BlockProps> {
  override shouldComponentUpdate(next: BlockProps): boolean {
    return next.text !== this.props.text || next.search !== this.props.search;
  }

  override render({text, search}: BlockProps): JSX.Element {
    const parts = search === '' ? undefined : findInLine(text, search);
    return (
      <pre>
        {parts === undefined
          ? text
          : parts.map((part, index) => (part.isMatch ? <mark key={index}>{part.text}</mark> : part.text))}
      </pre>
    );
  }
}
