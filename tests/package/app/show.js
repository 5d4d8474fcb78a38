// Shows the answer of the proxy that ?proxy= names.
export async function show(recoverStream) {
  const proxy = new URLSearchParams(location.search).get("proxy");
  const output = document.getElementById("answer");
  const answer = recoverStream(`${proxy}/v1/chat/completions`, {
    body: { model: "simulated", stream: true, messages: [{ role: "user", content: "What moves the tides?" }] },
  });
  try {
    for await (const { text } of answer) output.append(text);
  } catch (error) {
    output.dataset.error = `${error.code}: ${error.message}`;
  }
  Object.assign(output.dataset, { attempts: answer.attempts, end: answer.end });
}
