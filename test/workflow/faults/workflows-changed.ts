/** The same run after a careless change: a timer stands where a send was. */
import { condition, setHandler, sleep } from '@temporalio/workflow';
import { go, send } from './workflows.ts';

export async function pays(): Promise<void> {
  let gone = false;
  setHandler(go, () => {
    gone = true;
  });
  await sleep(10);
  await send('one');
  await condition(() => gone);
  await send('two');
}
