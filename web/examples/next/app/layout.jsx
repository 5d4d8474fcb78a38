// The document around every page.
import "tidemark/cursor.css";
import "./page.css";

export const metadata = { title: "Tidemark and Next" };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <head>
        <link rel="icon" href="data:," />
      </head>
      <body>{children}</body>
    </html>
  );
}
