package example;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.UUID;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** A servlet on Jetty. LAYER=1 puts a filter before it. */
public final class Main {
  /** Answers with five bytes. */
  static final class Hello extends HttpServlet {
    private static final byte[] BODY = "hello".getBytes(StandardCharsets.US_ASCII);

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
      response.setContentType("text/plain");
      response.setContentLength(BODY.length);
      response.getOutputStream().write(BODY);
    }
  }

  /** The layer: gives each request an id, and measures how long it took. Spring Boot takes the same filter as a bean. */
  static final class RequestIds implements Filter {
    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
        throws IOException, ServletException {
      long begin = System.nanoTime();
      ((HttpServletResponse) response).setHeader("X-Request-Id", UUID.randomUUID().toString());
      try {
        chain.doFilter(request, response);
      } finally {
        request.setAttribute("took", System.nanoTime() - begin);
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    Server server = new Server();
    ServerConnector connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    connector.setPort(Integer.parseInt(System.getenv("PORT")));
    server.addConnector(connector);
    ServletContextHandler context = new ServletContextHandler("/");
    context.addServlet(new ServletHolder(new Hello()), "/");
    if (System.getenv("LAYER") != null) {
      context.addFilter(new FilterHolder(new RequestIds()), "/*", EnumSet.of(DispatcherType.REQUEST));
    }
    server.setHandler(context);
    server.start();
    server.join();
  }
}
