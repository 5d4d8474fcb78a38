// A question and its answer, with Next's app router. ?question=TEXT is asked at once, ?proxy=URL says where Tidemark's
// proxy is, &simulate=FAULT what the simulated upstream shall do.
import { Chat } from "./chat.jsx";

export default async function Page({ searchParams }) {
  const { proxy = "http://127.0.0.1:8787", simulate = "none", question } = await searchParams;
  return <Chat proxy={proxy} simulate={simulate} asked={question} />;
}
